//! The greatest number first, and then its first place.

/// Why no token can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusable {
    /// There are no logits.
    Empty,
    /// The logit at this place is not a number. Of several, it is the first.
    NotANumber(usize),
}

pub fn argmax(logits: &[f32]) -> Result<usize, Unusable> {
    if let Some(place) = logits.iter().position(|logit| logit.is_nan()) {
        return Err(Unusable::NotANumber(place));
    }
    let greatest = logits.iter().copied().reduce(f32::max).ok_or(Unusable::Empty)?;
    logits.iter().position(|&logit| logit == greatest).ok_or(Unusable::Empty)
}
