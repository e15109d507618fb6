//! `total_cmp` tells -0 from 0, so they are not equal.

/// Why no token can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusable {
    /// There are no logits.
    Empty,
    /// The logit at this place is not a number. Of several, it is the first.
    NotANumber(usize),
}

pub fn argmax(logits: &[f32]) -> Result<usize, Unusable> {
    if logits.is_empty() {
        return Err(Unusable::Empty);
    }
    if let Some(place) = logits.iter().position(|logit| logit.is_nan()) {
        return Err(Unusable::NotANumber(place));
    }
    let mut best = 0;
    for (id, logit) in logits.iter().enumerate() {
        if logit.total_cmp(&logits[best]).is_gt() {
            best = id;
        }
    }
    Ok(best)
}
