//! With `seq`, after asking whether it is 0.

pub fn last_row(logits: &[f32], vocab: usize) -> Option<&[f32]> {
    let seq = logits.len() / vocab;
    if seq == 0 {
        return None;
    }
    Some(&logits[(seq - 1) * vocab..seq * vocab])
}
