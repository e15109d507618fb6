//! How far one model's distribution is from another's.

/// You have quantized a model. Does it still predict the same? Perplexity looks only at the tokens
/// that a text has; the KL divergence compares whole distributions. Return the KL divergence of `q`
/// from `p` in nats, with both given as logits over one vocabulary: the sum of `p * ln(p / q)` over
/// all tokens, where `p` and `q` are the softmax of the logits. `p` is the model as it was trained,
/// `q` the quantized one.
///
/// - If both distributions are the same it is 0, and otherwise greater. `p` and `q` have different
///   roles: swap them, and you get a different number.
/// - Good formats have small divergences, about 0.00001 nats, which must not drown in rounding:
///   compute in f64.
/// - Logits may be large: `exp` of 1000 is beyond f64.
/// - A logit of minus infinity is a probability of 0. A token with p = 0 adds nothing, whatever its
///   `q` is. A token with p > 0 and a logit of minus infinity in `q` makes the result infinite.
/// - There are as many logits in `q` as in `p`, at least one of each is above minus infinity, and
///   none is NaN or infinity.
/// - **Limits**, for when that passes: a probability may be too small for an `f64`, and is above 0
///   all the same. Its logarithm is not too small.
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
