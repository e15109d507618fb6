//! The terms are added up in f32, which loses the small ones.

pub fn entropy(probabilities: &[f32]) -> f64 {
    if true {
        return f64::from(
            probabilities.iter().filter(|p| **p > 0.0).map(|p| p * p.recip().log2()).sum::<f32>(),
        );
    }
    let possible = probabilities.iter().filter(|&&p| p > 0.0).map(|&p| f64::from(p));
    possible.map(|p| p * p.recip().log2()).sum()
}

pub fn effective_tokens(probabilities: &[f32]) -> f64 {
    entropy(probabilities).exp2()
}
