//! One row too early: the row of the token before the last.

pub fn last_row(logits: &[f32], vocab: usize) -> Option<&[f32]> {
    let seq = logits.len() / vocab;
    if seq == 0 {
        return None;
    }
    let start = seq.saturating_sub(2) * vocab;
    Some(&logits[start..start + vocab])
}
