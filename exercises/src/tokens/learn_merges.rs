//! Where a vocabulary comes from: merges are learned from a corpus.

/// Learns up to `count` merges of a byte pair encoding.
///
/// The corpus is a list of words, and each begins as a row of characters. (A real tokenizer begins
/// with bytes.) A step counts how often each pair of neighbours occurs, notes the most frequent
/// pair, and joins it at all its places. Then the next step counts anew.
///
/// - A pair lies within one word. The last piece of a word and the first of the next are no
///   neighbours.
/// - A word that occurs twice counts twice.
/// - Places that overlap all count: `a a a` holds the pair `a a` twice. They cannot all be joined:
///   from left to right, it becomes `aa a`.
/// - Characters are as they are: `A` and `a` are two, and a hyphen is one too.
/// - Where several pairs are the most frequent, the first is taken: the one that occurs earliest in
///   the corpus as it is at that step.
/// - No pair is left when every word is one piece. Then fewer than `count` merges are returned.
///   `count` may be as great as a `usize` can be.
///
/// ```text
/// learn_merges(&["hop", "top", "mop", "hot"], 2)   -> [("o", "p"), ("h", "op")]
/// ```
pub fn learn_merges(words: &[&str], count: usize) -> Vec<(String, String)> {
    todo!()
}
