//! The natural logarithm: the unit is the nat, and not the bit.

pub fn entropy(probabilities: &[f32]) -> f64 {
    probabilities
        .iter()
        .filter(|&&p| p > 0.0)
        .map(|&p| -f64::from(p) * f64::from(p).ln())
        .sum()
}

pub fn effective_tokens(probabilities: &[f32]) -> f64 {
    entropy(probabilities).exp()
}
