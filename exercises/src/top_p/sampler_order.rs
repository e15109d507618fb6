//! All rules in their order.

use slowburn::sampling::softmax;

/// Which rules are applied.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// Above 0. 1 is off.
    pub repetition_penalty: f32,
    /// 0 or above, however small. 0 is greedy.
    pub temperature: f32,
    /// At least 1.
    pub top_k: Option<usize>,
    /// Above 0 and at most 1. 1 removes nothing.
    pub top_p: Option<f32>,
    /// Above 0 and at most 1.
    pub min_p: Option<f32>,
}

/// You have written each rule of the sampler. Now put them together, because their order decides
/// what is left. Return the distribution that the next token is drawn from, after all rules in this
/// order:
///
/// 1. The repetition penalty, for all tokens in `said`. A score above 0 is divided by it, one below
///    0 is multiplied, once for each token.
/// 2. The temperature, however tiny. At 0 the best token, of equals the one with the lowest id, has
///    the probability 1, and no rule follows.
/// 3. Top-k: scores below the k-th best go. Ties with it stay.
/// 4. Top-p: the smallest set of most likely tokens that sums to at least `top_p` stays.
/// 5. Min-p: tokens less than `min_p` times as likely as the best one go.
///
/// Every rule sees what the one before left: its probabilities are a softmax over the tokens that
/// are still there, and sum to 1.
///
/// `logits` is `[vocab]`, all finite; `said` are ids within the vocabulary. Return `[vocab]`: 0 for
/// what was removed, and the sum is 1.
///
/// Copy the rules from your answers. The crate's `Sampler` can do all this too, but then it would
/// know the order, and not you. You may use the crate's `softmax`.
///
/// ```text
/// logits 2, 1.5, 1, 0.5, temperature 2, top-p 0.7, nothing else
///     the temperature   1      0.75   0.5    0.25
///     a softmax         0.350  0.273  0.212  0.165
///     top-p             0.350 + 0.273 + 0.212 reaches 0.7: three tokens stay
///     result            0.419  0.326  0.254  0
/// ```
pub fn sampler_order(logits: &[f32], said: &[u32], rules: &Rules) -> Vec<f32> {
    todo!()
}
