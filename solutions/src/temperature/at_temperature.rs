//! The distribution at a temperature.
//!
//! Why: the softmax sees only differences, and the division changes them. Above 1 they shrink: the
//! best token loses probability, and all become more alike. Below 1 they grow: the best token
//! gains, until at 0 it has everything. You can't divide by 0, so that limit is written down as a
//! special case. The greatest logit is subtracted before the division. Then each quotient is at
//! most 0, and a tiny temperature makes it -inf and not infinity.
//!
//! What it costs: one subtraction and one division a token, next to an `exp` that costs more.
//!
//! A common wrong turn: dividing probabilities instead of logits, and renormalising. The division
//! cancels, and every temperature is 1. Another: checking with `temperature < 0.0`, which is false
//! for NaN.

/// Why a temperature is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidTemperature {
    /// It is below 0: the worst token would be the likeliest.
    Negative,
    /// It is NaN, infinity or minus infinity.
    NotFinite,
}

/// The softmax of `logit / temperature`: `[vocab]` -> `[vocab]`. At 0 the first of the greatest
/// logits has everything. At least one logit is finite, and none is NaN.
///
/// # Errors
/// A temperature below 0, or one that is not finite.
pub fn at_temperature(logits: &[f32], temperature: f32) -> Result<Vec<f32>, InvalidTemperature> {
    if !temperature.is_finite() {
        return Err(InvalidTemperature::NotFinite);
    }
    if temperature < 0.0 {
        return Err(InvalidTemperature::Negative);
    }
    let greatest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if temperature == 0.0 {
        let mut probabilities = vec![0.0; logits.len()];
        if let Some(best) = logits.iter().position(|&logit| logit == greatest) {
            probabilities[best] = 1.0;
        }
        return Ok(probabilities);
    }
    let exps: Vec<f32> =
        logits.iter().map(|logit| ((logit - greatest) / temperature).exp()).collect();
    let sum: f32 = exps.iter().sum();
    Ok(exps.iter().map(|exp| exp / sum).collect())
}
