//! Top-k (Fan et al., arXiv 1805.04833).

// ANCHOR: top_k
/// Keeps the `k` most likely tokens, and any that tie with the last of them.
///
/// Selection, not sorting: only the k-th best score is needed.
pub(super) fn apply(scores: &mut [f32], k: usize) {
    if k >= scores.len() {
        return;
    }
    let mut copy = scores.to_vec();
    let (_, &mut kth, _) = copy.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
    for score in scores {
        if *score < kth {
            *score = f32::NEG_INFINITY;
        }
    }
}
// ANCHOR_END: top_k
