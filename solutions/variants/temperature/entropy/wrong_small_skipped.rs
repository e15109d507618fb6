//! Probabilities below a millionth count as 0.

pub fn entropy(probabilities: &[f32]) -> f64 {
    let possible = probabilities.iter().filter(|&&p| p > 1e-6).map(|&p| f64::from(p));
    possible.map(|p| p * p.recip().log2()).sum()
}

pub fn effective_tokens(probabilities: &[f32]) -> f64 {
    entropy(probabilities).exp2()
}
