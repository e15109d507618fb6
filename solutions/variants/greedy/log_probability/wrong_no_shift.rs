//! The sum overflows, or is 0.

pub fn log_probability(logits: &[f32], token: usize) -> f32 {
    let sum: f32 = logits.iter().map(|logit| logit.exp()).sum();
    logits[token] - sum.ln()
}
