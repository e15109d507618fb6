//! Cutting a word: the merges of a byte pair encoding, applied.

/// A vocabulary doesn't hold every word, so the tokenizer cuts a word into pieces that it does
/// hold. Return these pieces.
///
/// `word` is a row of characters at first. (A real tokenizer begins with bytes.) `merges` are the
/// pairs that were learned, the first one learned first, and you apply them in this order: each
/// joins its two pieces wherever the second stands directly behind the first. A piece is joined as
/// a whole, never the end or the beginning of a longer piece.
///
/// - Occurrences may overlap, as in `a a a` for the pair `a a`. Then you join the left one: `aa a`.
/// - No two merges make the same piece. The pieces of a merge are single characters, or were made
///   by earlier merges.
/// - An empty word has no tokens. In all others each character counts, whatever it is.
///
/// ```text
/// merges = [("o", "p"), ("h", "op")]
///
/// merge("shop", &merges)   s h o p  ->  s h op  ->  s hop     = ["s", "hop"]
/// merge("hot", &merges)    h o t                              = ["h", "o", "t"]
/// ```
pub fn merge(word: &str, merges: &[(&str, &str)]) -> Vec<String> {
    todo!()
}
