//! Takes the effective number to be proportional to the temperature.

use slowburn::sampling::softmax;
use slowburn::sampling::statistics::effective_tokens;

pub fn temperature_for(logits: &[f32], tokens: f64) -> f32 {
    (tokens / effective_tokens(&softmax(logits))) as f32
}
