//! Cutting a word: the merges of a byte pair encoding, applied.
//!
//! Why: the model learned from a corpus that was cut in a certain way, and your text must be cut
//! the same way. When the merges were learned, each was carried out everywhere before the next was
//! counted. So you do that too.
//!
//! What it costs: one pass over the word for each merge, including all that don't occur in it. A
//! real tokenizer looks up the rank of each neighbouring pair instead, and takes the lowest.
//!
//! A common wrong turn: joining the first pair from the left that is any merge, or looking for the
//! longest piece. Both spell the word, but with tokens that the model has not met in training.

/// The tokens of a word: `merges`, the first one learned first, are applied to its characters.
pub fn merge(word: &str, merges: &[(&str, &str)]) -> Vec<String> {
    let characters = word.chars().map(String::from).collect();
    merges.iter().fold(characters, join)
}

fn join(pieces: Vec<String>, &(left, right): &(&str, &str)) -> Vec<String> {
    let mut joined = Vec::with_capacity(pieces.len());
    let mut rest = pieces.into_iter().peekable();
    while let Some(mut piece) = rest.next() {
        if piece == left
            && let Some(next) = rest.next_if(|next| next == right)
        {
            piece += &next;
        }
        joined.push(piece);
    }
    joined
}
