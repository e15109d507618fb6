//! An empty row where there is none.

pub fn last_row(logits: &[f32], vocab: usize) -> Option<&[f32]> {
    Some(&logits[logits.len().saturating_sub(vocab)..])
}
