//! Min-p: relative to the best token.
//!
//! Why: the ratio of two probabilities is *e* to the difference of their scores, as the sum that
//! both are divided by cancels. So `p_i >= share * p_max` is `s_i >= s_max + ln share`, and no
//! softmax is needed.
//!
//! What it costs: one logarithm, and two passes over the scores.
//!
//! A common wrong turn: to compare with a share of the greatest score. Scores are not
//! probabilities. Half of a score says nothing, and half of a negative score is above it.

/// Removes the tokens whose probability is less than `share` times that of the most likely one.
/// `scores` is `[vocab]`, at least one of them finite, and `share` is above 0 and at most 1.
pub fn min_p(scores: &mut [f32], share: f32) {
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let least = greatest + share.ln();
    for score in scores {
        if *score < least {
            *score = f32::NEG_INFINITY;
        }
    }
}
