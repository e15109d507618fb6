//! Powers of `p` relative to the best, in f64: what is 0 at the temperature 1 stays 0 at every
//! other.

/// Why a temperature is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidTemperature {
    /// It is below 0: the worst token would be the likeliest.
    Negative,
    /// It is NaN, infinity or minus infinity.
    NotFinite,
}

pub fn at_temperature(logits: &[f32], temperature: f32) -> Result<Vec<f32>, InvalidTemperature> {
    match temperature {
        t if t.is_nan() || t.is_infinite() => return Err(InvalidTemperature::NotFinite),
        t if t < 0.0 => return Err(InvalidTemperature::Negative),
        _ => {}
    }
    let mut best = 0;
    for id in 1..logits.len() {
        if logits[id] > logits[best] {
            best = id;
        }
    }
    if temperature == 0.0 {
        return Ok((0..logits.len()).map(|id| f32::from(u8::from(id == best))).collect());
    }
    let ratio = |&logit: &f32| (f64::from(logit) - f64::from(logits[best])).exp();
    let powers: Vec<f64> =
        logits.iter().map(|logit| ratio(logit).powf(f64::from(temperature).recip())).collect();
    let sum: f64 = powers.iter().sum();
    Ok(powers.iter().map(|power| (power / sum) as f32).collect())
}
