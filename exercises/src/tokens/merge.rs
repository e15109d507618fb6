//! Cutting a word: the merges of a byte pair encoding, applied.

/// The tokens of a word.
///
/// `word` is a row of characters at first. (A real tokenizer begins with bytes.) `merges` are the
/// pairs that were learned, the first one learned first. They are applied in this order: each joins
/// all places where its two pieces stand side by side, the second directly behind the first. A piece
/// is joined as a whole: the end or the beginning of a longer piece is none.
///
/// - Places may overlap, as in `a a a` for the pair `a a`. Then the left one is joined: `aa a`.
/// - No two merges make the same piece. The pieces of a merge are single characters, or were made
///   by merges before it.
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
