//! The formula as it stands: 0 times minus infinity is NaN.

pub fn entropy(probabilities: &[f32]) -> f64 {
    probabilities.iter().map(|&p| -f64::from(p) * f64::from(p).log2()).sum()
}

pub fn effective_tokens(probabilities: &[f32]) -> f64 {
    entropy(probabilities).exp2()
}
