//! Without the minus sign.

pub fn entropy(probabilities: &[f32]) -> f64 {
    probabilities
        .iter()
        .filter(|&&p| p > 0.0)
        .map(|&p| f64::from(p) * f64::from(p).log2())
        .sum()
}

pub fn effective_tokens(probabilities: &[f32]) -> f64 {
    entropy(probabilities).exp2()
}
