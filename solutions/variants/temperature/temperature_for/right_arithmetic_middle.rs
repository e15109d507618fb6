//! With the middle by sum, in f64, until the number is near enough.

use slowburn::sampling::softmax;
use slowburn::sampling::statistics::effective_tokens;

pub fn temperature_for(logits: &[f32], tokens: f64) -> f32 {
    let (mut low, mut high) = (0.01, 100.0);
    loop {
        let middle: f64 = (low + high) / 2.0;
        let scores: Vec<f32> =
            logits.iter().map(|&logit| (f64::from(logit) / middle) as f32).collect();
        let reached = effective_tokens(&softmax(&scores));
        if (reached - tokens).abs() < 0.0002 * tokens || high - low < 1e-7 {
            return middle as f32;
        }
        if reached < tokens {
            low = middle
        } else {
            high = middle
        }
    }
}
