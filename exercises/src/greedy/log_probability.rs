//! How likely a token was, as a logarithm.

/// How likely was a token? Return the natural logarithm of the probability that the softmax of
/// `logits` gives to `token`: 0 or less.
///
/// `logits` is `[vocab]`, and `token` is an index into it. The catches are at the extremes:
///
/// - Logits may be so large that their `exp` is infinite, or so small that it is 0.
/// - A token may be so unlikely that its probability is 0 in an `f32`, and in an `f64` too. Yet its
///   logarithm is an ordinary number: take the logarithm of the fraction before you compute the
///   fraction.
/// - A logit of -inf has the probability 0, whose logarithm is -inf.
/// - At least one logit is finite, none is NaN, and none is infinity.
/// - The result may be off by 0.001, or by a millionth of the largest finite logit, whatever its
///   sign, if that is more.
///
/// ```text
/// log_probability(&[0.0, 0.0], 1)      -> -0.6931       (ln 0.5)
/// log_probability(&[0.0, -200.0], 0)   -> 0
/// log_probability(&[0.0, -200.0], 1)   -> -200
/// log_probability(&[0.0, -8e4], 1)     -> -80000
/// ```
pub fn log_probability(logits: &[f32], token: usize) -> f32 {
    todo!()
}
