//! The logarithm of the finished probability, which may be 0.

pub fn log_probability(logits: &[f32], token: usize) -> f32 {
    let greatest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = logits.iter().map(|logit| (logit - greatest).exp()).sum();
    ((logits[token] - greatest).exp() / sum).ln()
}
