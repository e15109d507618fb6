//! Entropy, and the effective number of tokens.

/// The entropy of a distribution in bits: `-sum_i p_i log2 p_i`, the surprise to expect.
///
/// `probabilities` is `[vocab]`, with the sum 1. A token of probability 0 adds nothing, though its
/// logarithm is minus infinity: it never comes, so it never surprises.
///
/// Add up in `f64`: a large vocabulary has many terms that are small beside their sum, and the result
/// may be off by no more than 0.00001.
///
/// ```text
/// entropy(&[0.5, 0.5])         -> 1.0
/// entropy(&[0.5, 0.5, 0.0])    -> 1.0
/// entropy(&[1.0])              -> 0.0
/// ```
pub fn entropy(probabilities: &[f32]) -> f64 {
    todo!()
}

/// The effective number of tokens, 2 to the power of the entropy: among how many equally likely
/// tokens one would be as unsure. It may be off by a ten-thousandth of itself.
///
/// ```text
/// effective_tokens(&[0.25, 0.25, 0.25, 0.25])   -> 4.0
/// effective_tokens(&[0.7, 0.2, 0.1])            -> 2.2296
/// ```
pub fn effective_tokens(probabilities: &[f32]) -> f64 {
    todo!()
}
