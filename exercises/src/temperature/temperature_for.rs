//! The temperature for a given effective number of tokens.

use slowburn::sampling::softmax;
use slowburn::sampling::statistics::effective_tokens;

/// "Temperature 0.8" doesn't tell a user much, and "choose among about three tokens" does. So find
/// the temperature at which a distribution has the given effective number of tokens.
///
/// `logits` is `[vocab]`, all finite and with one that is the greatest. `tokens` is above 1 and
/// below the vocabulary size. The temperature lies between 0.01 and 100: the caller sees to that.
///
/// Your result is near enough if the effective number at that temperature is off by no more than a
/// thousandth of `tokens`. Use the crate's `softmax` and `effective_tokens`.
///
/// There is no formula for it. But you know what happens to the effective number as the temperature
/// rises.
///
/// ```text
/// temperature_for(&[2.0, 1.5, 1.0, 0.5], 2.5794)    -> 0.5
/// temperature_for(&[2.0, 1.5, 1.0, 0.5], 3.4731)    -> 1.0
/// temperature_for(&[2.0, 1.5, 1.0, 0.5], 3.8507)    -> 2.0
/// ```
pub fn temperature_for(logits: &[f32], tokens: f64) -> f32 {
    todo!()
}
