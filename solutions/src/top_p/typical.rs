//! Typical sampling: neither too likely nor too unlikely.
//!
//! Why: it is top-p with another order of the tokens. You sort by the distance between a token's
//! surprise and the entropy, and the rest, the running sum and its edge, is the same. The tokens of
//! probability 0 leave first: their surprise is infinite, and 0 times infinity is NaN. The surprise
//! is `-log2(p)` and not `log2(1 / p)`: with a p of 1e-42, 1 / p is more than an f32 holds.
//!
//! What it costs: a logarithm for each token that can come, and a sort.
//!
//! A common wrong turn: forgetting that the distance has two sides. Without the absolute value the
//! surest token always comes first, and the rule is top-p again.

/// Keeps the tokens whose surprise is nearest to the entropy, until their probabilities sum to at
/// least `mass`, and divides them by their sum. `probabilities` is `[vocab]`, and `mass` is above 0
/// and below 1.
pub fn typical(probabilities: &[f32], mass: f32) -> Vec<f32> {
    let surprise = |id: usize| -probabilities[id].log2();
    let mut ids: Vec<usize> =
        (0..probabilities.len()).filter(|&id| probabilities[id] > 0.0).collect();
    let entropy: f32 = ids.iter().map(|&id| probabilities[id] * surprise(id)).sum();
    let distance = |id: usize| (surprise(id) - entropy).abs();
    ids.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));

    let mut left = vec![0.0; probabilities.len()];
    let mut sum = 0.0;
    for id in ids {
        if sum >= mass {
            break;
        }
        left[id] = probabilities[id];
        sum += probabilities[id];
    }
    left.iter().map(|probability| probability / sum).collect()
}
