//! As many numbers as there are positions, instead of tokens in the vocabulary.

pub fn last_row(logits: &[f32], vocab: usize) -> Option<&[f32]> {
    let seq = logits.len() / vocab;
    if seq == 0 {
        return None;
    }
    Some(&logits[logits.len() - seq..])
}
