//! The greatest number first, then its first place, then the greatest of the others.

/// Why no token can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusable {
    /// There are no logits.
    Empty,
    /// The logit at this place is not a number. Of several, it is the first.
    NotANumber(usize),
}

/// What greedy chooses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The place of the greatest logit; of equals, the first.
    pub token: usize,
    /// By how much its logit is greater than that of every other token.
    pub lead: f32,
}

pub fn argmax(logits: &[f32]) -> Result<Choice, Unusable> {
    if let Some(place) = logits.iter().position(|logit| logit.is_nan()) {
        return Err(Unusable::NotANumber(place));
    }
    let greatest = logits.iter().copied().reduce(f32::max).ok_or(Unusable::Empty)?;
    let token = logits.iter().position(|&logit| logit == greatest).ok_or(Unusable::Empty)?;
    let others = [&logits[..token], &logits[token + 1..]].concat();
    let lead = match others.into_iter().reduce(f32::max) {
        Some(second) if second < greatest => greatest - second,
        Some(_) => 0.0,
        None => f32::INFINITY,
    };
    Ok(Choice { token, lead })
}
