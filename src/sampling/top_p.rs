//! Top-p, or nucleus sampling (Holtzman et al., arXiv 1904.09751).

use super::softmax;

// ANCHOR: top_p
/// Keeps the smallest set of most likely tokens whose probabilities sum to at least `p`.
pub(super) fn apply(scores: &mut [f32], p: f32) {
    let probabilities = softmax(scores);
    let ranked = most_likely(&probabilities, p);
    let mut mass = 0.0;
    let kept = ranked.iter().take_while(|&&id| {
        let needed = mass < p;
        mass += probabilities[id];
        needed
    });
    let kept: Vec<(usize, f32)> = kept.map(|&id| (id, scores[id])).collect();
    scores.fill(f32::NEG_INFINITY);
    for (id, score) in kept {
        scores[id] = score;
    }
}
// ANCHOR_END: top_p

/// The most likely tokens, best first: enough of them to reach `p`, or all. Ties are ordered by
/// descending id, as in transformers, which sorts in ascending order and reads from the end.
///
/// A nucleus is usually small, so only the best few are selected and sorted; the selection grows if
/// they do not reach `p`.
fn most_likely(probabilities: &[f32], p: f32) -> Vec<usize> {
    let better =
        |a: &usize, b: &usize| probabilities[*b].total_cmp(&probabilities[*a]).then(b.cmp(a));
    let mut ids: Vec<usize> = (0..probabilities.len()).collect();
    let mut size = 256;
    while size < ids.len() {
        ids.select_nth_unstable_by(size, better);
        let mass: f32 = ids[..size].iter().map(|&id| probabilities[id]).sum();
        // The caller sums in sorted order: if this sum rounds lower, one extra round runs.
        if mass > p {
            break;
        }
        size *= 8;
    }
    ids.truncate(size);
    ids.sort_unstable_by(better);
    ids
}
