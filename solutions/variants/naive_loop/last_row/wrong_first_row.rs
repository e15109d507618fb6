//! The first row, which scores what follows the first token.

pub fn last_row(logits: &[f32], vocab: usize) -> Option<&[f32]> {
    logits.chunks(vocab).next()
}
