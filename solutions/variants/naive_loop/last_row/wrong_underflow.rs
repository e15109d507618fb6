//! `seq - 1` before it is known that there is a row.

pub fn last_row(logits: &[f32], vocab: usize) -> Option<&[f32]> {
    let seq = logits.len() / vocab;
    let start = (seq - 1) * vocab;
    logits.get(start..start + vocab)
}
