//! The places in a stable order of their logits: the first two are what is asked for.

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
    let mut ids: Vec<usize> = (0..logits.len()).collect();
    ids.sort_by(|&a, &b| logits[b].partial_cmp(&logits[a]).unwrap());
    let &token = ids.first().ok_or(Unusable::Empty)?;
    let lead = match ids.get(1) {
        Some(&second) if logits[second] == logits[token] => 0.0,
        Some(&second) => logits[token] - logits[second],
        None => f32::INFINITY,
    };
    Ok(Choice { token, lead })
}
