//! Top-k, with ties and with tokens that always stay.
//!
//! Why: the rule needs one number, the `k`-th best score of all that have to compete. Comparing
//! with it decides for each token, wherever it stands, so equal tokens are treated equally. The
//! search works on a copy: it moves the numbers around, and the place of a score is its id.
//!
//! What it costs: a copy, and a selection whose time grows with the vocabulary. A full sort would
//! grow with the vocabulary times its logarithm. `always` is short, so a search in it costs little.
//!
//! A common wrong turn: sorting the ids and cutting after `k`. Which of several equal tokens stay
//! then depends on where they stand in the vocabulary. Another: cutting as if nothing were exempt,
//! and putting the exempt scores back. By then they have taken places from others.

/// Keeps the tokens in `always`, the `k` best of the rest, and those that are equal to the last of
/// these: every other score becomes -inf. `scores` is `[vocab]`, and `k` is at least 1.
pub fn keep_top_k(scores: &mut [f32], k: usize, always: &[u32]) {
    let competes = |id: usize| !always.contains(&(id as u32));
    let mut rest: Vec<f32> =
        (0..scores.len()).filter(|&id| competes(id)).map(|id| scores[id]).collect();
    if k >= rest.len() {
        return;
    }
    let (_, &mut kth_best, _) = rest.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
    for (id, score) in scores.iter_mut().enumerate() {
        if *score < kth_best && competes(id) {
            *score = f32::NEG_INFINITY;
        }
    }
}
