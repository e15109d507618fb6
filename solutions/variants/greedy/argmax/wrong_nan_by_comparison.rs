//! NaN is compared with itself as if it were equal to itself.

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
    if let Some(place) = logits.iter().position(|logit| *logit == f32::NAN) {
        return Err(Unusable::NotANumber(place));
    }
    let mut best = 0;
    for (id, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = id;
        }
    }
    Ok(best)
}
