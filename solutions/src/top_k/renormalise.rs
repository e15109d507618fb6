//! The kept probabilities sum to 1 again.
//!
//! Why: a token that is removed takes its mass with it, so the rest sums to less than 1. Dividing
//! all by the same number brings the sum back to 1 and leaves every ratio as it was: a token that
//! was twice as likely as another still is.
//!
//! What it costs: two passes, one for the sum and one for the division. In a sampler it costs
//! nothing extra, because the softmax that follows a rule divides anyway.
//!
//! A common wrong turn: sharing the missing mass out in equal parts. The sum is 1 again, but the
//! unlikely tokens that stayed are now likelier than the model made them.

/// Removes the tokens that are not `kept`, and divides what is left by its own sum.
///
/// `probabilities` and `kept` are `[vocab]`, and so is what it returns. At least one token that
/// stays has a probability above 0.
pub fn renormalise(probabilities: &[f32], kept: &[bool]) -> Vec<f32> {
    let left = |(&probability, &kept): (&f32, &bool)| if kept { probability } else { 0.0 };
    let left: Vec<f32> = probabilities.iter().zip(kept).map(left).collect();
    let sum: f32 = left.iter().sum();
    left.iter().map(|probability| probability / sum).collect()
}
