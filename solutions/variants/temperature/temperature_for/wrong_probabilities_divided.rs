//! Divides the probabilities instead of the logits.

use slowburn::sampling::softmax;
use slowburn::sampling::statistics::effective_tokens;

pub fn temperature_for(logits: &[f32], tokens: f64) -> f32 {
    let (mut low, mut high) = (0.01_f32, 100.0_f32);
    for _ in 0..40 {
        let middle = (low * high).sqrt();
        let divided: Vec<f32> = softmax(logits).iter().map(|p| p / middle).collect();
        if effective_tokens(&softmax(&divided)) < tokens {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
