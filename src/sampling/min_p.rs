//! Min-p (Nguyen et al., arXiv 2407.01082).

use super::softmax::greatest;

// ANCHOR: min_p
/// Keeps the tokens that are at least `p` times as likely as the most likely token.
///
/// A ratio of probabilities is a difference of scores, so no softmax is needed:
/// `p_i >= p * p_max` is `s_i >= s_max + ln p`.
pub(super) fn apply(scores: &mut [f32], p: f32) {
    let least = greatest(scores) + p.ln();
    for score in scores {
        if *score < least {
            *score = f32::NEG_INFINITY;
        }
    }
}
// ANCHOR_END: min_p
