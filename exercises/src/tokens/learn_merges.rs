//! Where a vocabulary comes from: merges are learned from a corpus.

/// Where do the merges of a byte pair encoding come from? You learn them from a corpus: up to
/// `count` of them.
///
/// The corpus is a list of words, and each begins as a row of characters. (A real tokenizer begins
/// with bytes.) In each step you count how often each pair of neighbours occurs, record the most
/// frequent pair, and join it everywhere. The next step counts anew.
///
/// - A pair lies within one word: the last piece of a word and the first piece of the next are no
///   neighbours.
/// - A word that occurs twice counts twice.
/// - Occurrences that overlap all count: `a a a` holds the pair `a a` twice. But you can't join
///   them all: from left to right, it becomes `aa a`.
/// - Characters are taken as they are: `A` and `a` are two, and a hyphen is a character too.
/// - Several pairs are the most frequent? Take the one that occurs earliest in the corpus, as it is
///   at that step.
/// - Once every word is one piece, no pair is left, and you return fewer than `count` merges.
///   `count` may be any `usize`, even the largest.
///
/// ```text
/// learn_merges(&["hop", "top", "mop", "hot"], 2)   -> [("o", "p"), ("h", "op")]
/// ```
pub fn learn_merges(words: &[&str], count: usize) -> Vec<(String, String)> {
    todo!()
}
