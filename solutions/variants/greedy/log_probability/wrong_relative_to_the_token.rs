//! The token itself is the zero: where it is far below the greatest, the sum overflows also in f64.

pub fn log_probability(logits: &[f32], token: usize) -> f32 {
    if logits[token] == f32::NEG_INFINITY {
        return f32::NEG_INFINITY;
    }
    let sum: f64 = logits.iter().map(|&logit| f64::from(logit - logits[token]).exp()).sum();
    -sum.ln() as f32
}
