//! From cold to hot in steps of a part in a hundred, then of less.

use slowburn::sampling::softmax;
use slowburn::sampling::statistics::effective_tokens;

pub fn temperature_for(logits: &[f32], tokens: f64) -> f32 {
    let reached = |temperature: f64| {
        let scores: Vec<f32> =
            logits.iter().map(|&logit| (f64::from(logit) / temperature) as f32).collect();
        effective_tokens(&softmax(&scores))
    };
    let mut temperature = 0.01;
    for factor in [1.1, 1.01, 1.001, 1.0001, 1.00001] {
        while reached(temperature * factor) < tokens {
            temperature *= factor;
        }
    }
    temperature as f32
}
