//! Only the token that was found is looked at for NaN.

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
    let mut best = 0;
    for (id, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = id;
        }
    }
    if logits[best].is_nan() {
        return Err(Unusable::NotANumber(best));
    }
    Ok(best)
}
