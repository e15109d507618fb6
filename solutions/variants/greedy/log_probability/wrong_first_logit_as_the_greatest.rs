//! The first logit is subtracted instead of the greatest.

pub fn log_probability(logits: &[f32], token: usize) -> f32 {
    let greatest = logits[0];
    let sum: f32 = logits.iter().map(|logit| (logit - greatest).exp()).sum();
    (logits[token] - greatest) - sum.ln()
}
