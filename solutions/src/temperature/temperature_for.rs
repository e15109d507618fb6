//! The temperature for a given effective number of tokens.
//!
//! Why: the effective number of tokens never falls as the temperature rises. So one try in the
//! middle tells you on which side the answer lies, and half of the range is gone. The middle is the
//! geometric one: between 0.01 and 100 it is 1, and each half has as many powers of ten. Forty
//! halvings leave less than an f32 can tell apart.
//!
//! What it costs: forty softmaxes. That is nothing once, and too much at every step of a model with
//! a large vocabulary: there you would start from the temperature of the step before.
//!
//! A common wrong turn: assuming that the number grows in proportion to the temperature. It starts
//! at 1, and it bends towards the size of the vocabulary.

use slowburn::sampling::softmax;
use slowburn::sampling::statistics::effective_tokens;

/// The temperature, between 0.01 and 100, at which the distribution of `logits`, `[vocab]`, has
/// `tokens` as its effective number of tokens.
pub fn temperature_for(logits: &[f32], tokens: f64) -> f32 {
    let (mut low, mut high) = (0.01_f32, 100.0_f32);
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
