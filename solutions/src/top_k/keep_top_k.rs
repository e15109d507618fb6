//! Top-k, with ties.
//!
//! Why: the rule needs one number, the `k`-th best score. A comparison with it decides for each
//! token, wherever it stands, and equal tokens are treated equally. The search works on a copy, as
//! it moves the numbers around, and places are ids.
//!
//! What it costs: a copy, and a selection whose time grows with the vocabulary. A full sort would
//! grow with the vocabulary times its logarithm.
//!
//! A common wrong turn: to sort the ids and cut after `k`. Which of several equal tokens stay then
//! depends on where they stand in the vocabulary.

/// Keeps the `k` tokens with the highest scores and those that are equal to the last of them:
/// every other score becomes -inf. `scores` is `[vocab]`, and `k` is at least 1.
pub fn keep_top_k(scores: &mut [f32], k: usize) {
    if k >= scores.len() {
        return;
    }
    let mut copy = scores.to_vec();
    let (_, &mut kth_best, _) = copy.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
    for score in scores {
        if *score < kth_best {
            *score = f32::NEG_INFINITY;
        }
    }
}
