//! Top-p: the smallest set that reaches a share of the mass.
//!
//! Why: you sort the ids and not the probabilities, so each token still knows its place. And you
//! ask before you add a token: is the sum still short of `p`? So the token that reaches `p` stays,
//! and so does the first one, because 0 is short of every `p`.
//!
//! What it costs: a sort of the whole vocabulary. A nucleus is mostly small, so the crate picks out
//! the 256 best, and sorts more only if these do not reach `p`.
//!
//! A common wrong turn: asking after a token was added whether the sum is still at most `p`. That
//! drops the token that passes `p`, and keeps nothing at all if the best token is likelier than
//! `p`.

/// Keeps the smallest set of most likely tokens whose probabilities sum to at least `p`, and
/// divides them by their sum. `probabilities` is `[vocab]`, and `p` is above 0 and at most 1.
pub fn nucleus(probabilities: &[f32], p: f32) -> Vec<f32> {
    let mut ids: Vec<usize> = (0..probabilities.len()).collect();
    ids.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    let mut left = vec![0.0; probabilities.len()];
    let mut mass = 0.0;
    for id in ids {
        if mass >= p && p < 1.0 {
            break;
        }
        left[id] = probabilities[id];
        mass += probabilities[id];
    }
    left.iter().map(|probability| probability / mass).collect()
}
