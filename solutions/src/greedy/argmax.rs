//! The most likely token, and how far it is ahead.
//!
//! Why: you keep two numbers, the greatest so far and the greatest of all others. A new greatest
//! pushes the old one into second place. Thanks to the strict `>` the first of equals stays, and an
//! equal one that comes later is then the second, with a lead of 0. The search begins with the
//! first logit instead of with 0, so that it finds the greatest even if all are below zero. And NaN
//! is looked for before: with a NaN in front, `>` is false every time, and the first token would
//! win.
//!
//! What it costs: two passes over the vocabulary, which is little next to a step of the model.
//!
//! A common wrong turn: looking at the second place only when the best changes. A logit after the
//! greatest may be the second too. Another: `max_by`, which returns the last of equals. And with
//! `total_cmp`, a NaN is greater than every number, so the damaged token wins.

/// Why no token can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusable {
    /// There are no logits.
    Empty,
    /// The logit at this index is not a number. Of several, it is the first.
    NotANumber(usize),
}

/// What greedy chooses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The index of the greatest logit; of equal ones, the first.
    pub token: usize,
    /// By how much its logit exceeds every other token's.
    pub lead: f32,
}

/// The greatest of `logits`, `[vocab]`, of equals the first, and its lead over the second.
///
/// # Errors
/// No logits, or one that is NaN.
pub fn argmax(logits: &[f32]) -> Result<Choice, Unusable> {
    let (&first, others) = logits.split_first().ok_or(Unusable::Empty)?;
    if let Some(place) = logits.iter().position(|logit| logit.is_nan()) {
        return Err(Unusable::NotANumber(place));
    }
    let (mut token, mut greatest) = (0, first);
    let mut second = None;
    for (id, &logit) in (1..).zip(others) {
        if logit > greatest {
            second = Some(greatest);
            (token, greatest) = (id, logit);
        } else {
            second = Some(second.map_or(logit, |second: f32| second.max(logit)));
        }
    }
    let lead = match second {
        None => f32::INFINITY,
        // The difference of -inf and -inf would be NaN.
        Some(second) if second == greatest => 0.0,
        Some(second) => greatest - second,
    };
    Ok(Choice { token, lead })
}
