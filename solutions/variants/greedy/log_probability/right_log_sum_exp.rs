//! The logarithm of the sum first, and then the difference.

pub fn log_probability(logits: &[f32], token: usize) -> f32 {
    let greatest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = logits.iter().map(|logit| (logit - greatest).exp()).sum();
    logits[token] - (greatest + sum.ln())
}
