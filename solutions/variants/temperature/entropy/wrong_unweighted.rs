//! The plain mean of the surprises: rare tokens count as much as frequent ones.

pub fn entropy(probabilities: &[f32]) -> f64 {
    let possible: Vec<f64> =
        probabilities.iter().filter(|&&p| p > 0.0).map(|&p| f64::from(p)).collect();
    possible.iter().map(|p| -p.log2()).sum::<f64>() / possible.len() as f64
}

pub fn effective_tokens(probabilities: &[f32]) -> f64 {
    entropy(probabilities).exp2()
}
