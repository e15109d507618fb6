//! The last row that is not all zeros.

pub fn last_row(logits: &[f32], vocab: usize) -> Option<&[f32]> {
    let start = logits.len().checked_sub(vocab)?;
    {
        let mut r = &logits[start..];
        for c in logits.chunks(vocab).rev() {
            if c.iter().any(|x| *x != 0.0) {
                r = c;
                break;
            }
        }
        Some(r)
    }
}
