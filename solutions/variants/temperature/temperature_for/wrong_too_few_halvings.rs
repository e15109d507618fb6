//! Ten halvings of the range: 0.1 on each side is too much where it is cold.

use slowburn::sampling::softmax;
use slowburn::sampling::statistics::effective_tokens;

pub fn temperature_for(logits: &[f32], tokens: f64) -> f32 {
    let (mut low, mut high) = (0.01_f32, 100.0_f32);
    for _ in 0..10 {
        let middle = (low + high) / 2.0;
        let scores: Vec<f32> = logits.iter().map(|logit| logit / middle).collect();
        if effective_tokens(&softmax(&scores)) < tokens {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}
