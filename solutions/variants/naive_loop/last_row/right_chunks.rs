//! The last of the rows.

pub fn last_row(logits: &[f32], vocab: usize) -> Option<&[f32]> {
    logits.chunks(vocab).last()
}
