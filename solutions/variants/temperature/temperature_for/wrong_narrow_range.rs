//! The search goes from 0.1 to 10 only.

use slowburn::sampling::softmax;
use slowburn::sampling::statistics::effective_tokens;

pub fn temperature_for(logits: &[f32], tokens: f64) -> f32 {
    let (mut low, mut high) = (0.1_f32, 10.0_f32);
    for _ in 0..40 {
        let middle = (low * high).sqrt();
        let scores: Vec<f32> = logits.iter().map(|logit| logit / middle).collect();
        if effective_tokens(&softmax(&scores)) < tokens {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low * high).sqrt()
}
