//! From the other end, where the last of equals is the first.

/// Why no token can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusable {
    /// There are no logits.
    Empty,
    /// The logit at this place is not a number. Of several, it is the first.
    NotANumber(usize),
}

pub fn argmax(logits: &[f32]) -> Result<usize, Unusable> {
    let (&last, _) = logits.split_last().ok_or(Unusable::Empty)?;
    if let Some(place) = (0..logits.len()).find(|&id| logits[id].is_nan()) {
        return Err(Unusable::NotANumber(place));
    }
    let (mut best, mut greatest) = (logits.len() - 1, last);
    for (id, &logit) in logits.iter().enumerate().rev() {
        if logit >= greatest {
            (best, greatest) = (id, logit);
        }
    }
    Ok(best)
}
