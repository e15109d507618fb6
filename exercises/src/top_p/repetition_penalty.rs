//! The repetition penalty.

/// A model likes to repeat itself. So make every token that was said less likely to be said again.
///
/// `scores` is `[vocab]`, and you change it in place. `prompt` and `output` are token ids within
/// the vocabulary, and a token was said if it is in either. With a `penalty` above 1, the score of
/// such a token falls:
///
/// - A score above 0 is divided by `penalty`, and one below 0 is multiplied by it.
/// - However often a token was said, it is penalised once.
/// - A `penalty` of 1 changes nothing. One below 1, and at least 0.01, makes scores rise instead,
///   by the same rule.
/// - A score may be -inf: that token was removed, and stays removed. None is +inf or NaN.
///
/// ```text
/// penalty = 2, prompt = [0], output = [2, 2]
///     [3.0, 3.0, -3.0, -3.0]    becomes [1.5, 3.0, -6.0, -3.0]
/// ```
pub fn repetition_penalty(scores: &mut [f32], penalty: f32, prompt: &[u32], output: &[u32]) {
    todo!()
}
