//! Entropy, and the effective number of tokens.

/// How unsure is a model of its next token? The entropy tells you, in bits: `-sum_i p_i log2 p_i`,
/// the surprise to expect.
///
/// `probabilities` is `[vocab]`, with the sum 1. The catch is a token of probability 0. Its
/// logarithm is minus infinity, yet it adds nothing: it never comes, so it never surprises.
///
/// Add up in `f64`: a large vocabulary has many terms that are small next to their sum, and the
/// result may be off by no more than 0.00001.
///
/// ```text
/// entropy(&[0.5, 0.5])         -> 1.0
/// entropy(&[0.5, 0.5, 0.0])    -> 1.0
/// entropy(&[1.0])              -> 0.0
/// ```
pub fn entropy(probabilities: &[f32]) -> f64 {
    todo!()
}

/// Bits are hard to picture. So take 2 to the power of the entropy, the effective number of tokens:
/// choosing among that many equally likely tokens would leave you just as unsure. It may be off by
/// a ten-thousandth of its value.
///
/// ```text
/// effective_tokens(&[0.25, 0.25, 0.25, 0.25])   -> 4.0
/// effective_tokens(&[0.7, 0.2, 0.1])            -> 2.2296
/// ```
pub fn effective_tokens(probabilities: &[f32]) -> f64 {
    todo!()
}
