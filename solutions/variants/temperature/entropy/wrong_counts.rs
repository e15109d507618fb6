//! Counts the tokens that can come, however unlikely they are.

pub fn entropy(probabilities: &[f32]) -> f64 {
    probabilities
        .iter()
        .filter(|&&p| p > 0.0)
        .map(|&p| -f64::from(p) * f64::from(p).log2())
        .sum()
}

pub fn effective_tokens(probabilities: &[f32]) -> f64 {
    probabilities.iter().filter(|&&p| p > 0.0).count() as f64
}
