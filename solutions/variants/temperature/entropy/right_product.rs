//! The effective number first: the product of each 1/p to the power of p.

pub fn entropy(probabilities: &[f32]) -> f64 {
    effective_tokens(probabilities).log2()
}

pub fn effective_tokens(probabilities: &[f32]) -> f64 {
    probabilities.iter().map(|&p| f64::from(p).powf(-f64::from(p))).product()
}
