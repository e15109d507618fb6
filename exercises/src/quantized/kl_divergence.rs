//! How far one model's distribution is from another's.

/// The KL divergence of `q` from `p` in nats, where both are given as logits over one vocabulary:
/// the sum of `p * ln(p / q)` over all tokens, where `p` and `q` are the probabilities that a softmax
/// makes of the logits. `p` is the model as it was trained, `q` the quantized one.
///
/// - Where both distributions are the same it is 0, and otherwise greater. `p` and `q` have different
///   parts: the other way around, the number is another one.
/// - Divergences of good formats are small, about 0.00001 nats, and must not drown in rounding: compute
///   in f64.
/// - Logits may be great: `exp` of 1000 is beyond f64.
/// - A logit of minus infinity is a probability of 0. A token with p = 0 adds nothing, whatever its
///   `q` is. A token with p > 0 and a logit of minus infinity in `q` makes the result infinite.
/// - There are as many logits in `q` as in `p`, at least one of each is above minus infinity, and none
///   is NaN or infinity.
/// - **Limits**, for when that passes: a probability may be too small for a number, and is above 0 all the
///   same. Its logarithm is not too small.
///
/// ```text
/// p  0 0          1/2 1/2
/// q  ln 3, 0      3/4 1/4
///
/// 1/2 * ln(2/3) + 1/2 * ln(2) = 0.1438
/// ```
pub fn kl_divergence(p: &[f32], q: &[f32]) -> f64 {
    todo!()
}
