//! Min-p: relative to the best token.
//!
//! Why: the ratio of two probabilities is *e* to the difference of their scores, because the sum
//! that both are divided by cancels. So `p_i >= share * p_max` means `s_i >= s_max + ln share`, and
//! you need no softmax.
//!
//! What it costs: one logarithm, and two passes over the scores.
//!
//! A common wrong turn: comparing with a share of the greatest score. Scores are not probabilities.
//! Half of a score means nothing, and half of a negative score is above it.

/// Removes the tokens that are less than `share` times as likely as the most likely one. `scores`
/// is `[vocab]`, at least one of them finite, and `share` is above 0 and at most 1.
pub fn min_p(scores: &mut [f32], share: f32) {
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let least = greatest + share.ln();
    for score in scores {
        if *score < least {
            *score = f32::NEG_INFINITY;
        }
    }
}
