//! Powers of the probabilities at the temperature 1: one that is 0 there stays 0.

/// Why a temperature is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidTemperature {
    /// It is below 0: the worst token would be the likeliest.
    Negative,
    /// It is NaN, infinity or minus infinity.
    NotFinite,
}

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
    let p: Vec<f32> = logits.iter().map(|logit| (logit - greatest).exp()).collect();
    let s: f32 = p.iter().sum();
    let exps: Vec<f32> = p.iter().map(|p| (p / s).powf(1.0 / temperature)).collect();
    let sum: f32 = exps.iter().sum();
    Ok(exps.iter().map(|exp| exp / sum).collect())
}
