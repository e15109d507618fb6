//! NaN is noticed only where the search ends with it.

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
    let (&first, others) = logits.split_first().ok_or(Unusable::Empty)?;

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
    if greatest.is_nan() {
        return Err(Unusable::NotANumber(token));
    }
    let lead = match second {
        None => f32::INFINITY,
        // The difference of -inf and -inf would be NaN.
        Some(second) if second == greatest => 0.0,
        Some(second) => greatest - second,
    };
    Ok(Choice { token, lead })
}
