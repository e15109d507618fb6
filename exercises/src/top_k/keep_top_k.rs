//! Top-k, with ties.

/// Keeps the `k` tokens with the highest scores: every other score becomes -inf.
///
/// `scores` is `[vocab]` and is changed in place. A score that stays is not changed, and stays in
/// its place.
///
/// - All tokens whose score is at least the `k`-th best stay. So tokens that are equal to the
///   `k`-th all stay, and there may be more than `k`.
/// - A `k` that is greater than the vocabulary keeps all. `k` is at least 1.
/// - Some scores may be -inf already: an earlier rule removed these tokens. No score is NaN.
///
/// ```text
/// k = 2    [1.0, 4.0, 3.0, 2.0]    becomes [-inf, 4.0, 3.0, -inf]
/// k = 2    [3.0, 4.0, 3.0, 2.0]    becomes [3.0, 4.0, 3.0, -inf]
/// k = 9    [1.0, 4.0]              stays   [1.0, 4.0]
/// ```
pub fn keep_top_k(scores: &mut [f32], k: usize) {
    todo!()
}
