//! The most likely token.
//!
//! Why: the strict `>` lets the first of equals stay, since an equal one that comes later does not
//! replace it. The search begins with the first logit instead of with 0, so that it finds the
//! greatest also where all are below zero. NaN is looked for before: with a NaN in front, `>` is
//! false every time, and the first token would win.
//!
//! What it costs: two passes over the vocabulary, which is little beside a step of the model.
//!
//! A common wrong turn: `max_by`. It returns the last of equals, not the first. And with
//! `total_cmp`, a NaN is greater than every number, so the damaged token wins.

/// Why no token can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusable {
    /// There are no logits.
    Empty,
    /// The logit at this place is not a number. Of several, it is the first.
    NotANumber(usize),
}

/// The place of the greatest of `logits`, `[vocab]`; of equals, the first.
///
/// # Errors
/// No logits, or one that is NaN.
pub fn argmax(logits: &[f32]) -> Result<usize, Unusable> {
    if logits.is_empty() {
        return Err(Unusable::Empty);
    }
    if let Some(place) = logits.iter().position(|logit| logit.is_nan()) {
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
