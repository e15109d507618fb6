//! In f64, with the greatest logit subtracted.

pub fn log_probability(logits: &[f32], token: usize) -> f32 {
    let g = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let s: f64 = logits.iter().map(|l| f64::from(l - g).exp()).sum();
    (f64::from(logits[token]) - f64::from(g) - s.ln()) as f32
}
