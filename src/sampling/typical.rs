//! Locally typical sampling (Meister et al., arXiv 2202.00666).

use super::softmax;

/// Keeps the tokens whose surprise, `-ln p_i`, is closest to the entropy (the expected surprise):
/// the fewest whose probabilities sum to at least `p`.
pub(super) fn apply(scores: &mut [f32], p: f32) {
    let probabilities = softmax(scores);
    let surprise = |id: usize| -probabilities[id].ln();
    let mut ids: Vec<usize> = (0..scores.len()).filter(|&id| probabilities[id] > 0.0).collect();
    let entropy: f32 = ids.iter().map(|&id| probabilities[id] * surprise(id)).sum();
    let distance = |id: usize| (surprise(id) - entropy).abs();
    ids.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));

    let mut mass = 0.0;
    let kept = ids.into_iter().take_while(|&id| {
        let needed = mass < p;
        mass += probabilities[id];
        needed
    });
    let kept: Vec<(usize, f32)> = kept.map(|id| (id, scores[id])).collect();
    scores.fill(f32::NEG_INFINITY);
    for (id, score) in kept {
        scores[id] = score;
    }
}
