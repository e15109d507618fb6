//! The logarithm of the softmax, in f64: the probability is 0 at a distance of 800.

pub fn log_probability(logits: &[f32], token: usize) -> f32 {
    let greatest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = logits.iter().map(|logit| (logit - greatest).exp()).sum();
    (f64::from(logits[token] - greatest).exp() / f64::from(sum)).ln() as f32
}
