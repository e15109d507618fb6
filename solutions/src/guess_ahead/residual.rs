//! Residual sampling: accept a guess by chance, and replace it so that the distribution stays.
//!
//! Why: a token comes from a guess with the probability `q * min(1, p / q)`, which is `min(p, q)`.
//! What is missing to `p` is `max(0, p - q)`. A guess is rejected with 1 less the sum of all
//! `min(p, q)`, which equals the sum of all `max(0, p - q)`, because `p` sums to 1. So drawing in
//! proportion to what is missing fills exactly that: `min(p, q) + max(0, p - q)` is `p`, for each
//! token, whatever `q` is. (Leviathan et al., arXiv 2211.17192; Chen et al., arXiv 2302.01318.)
//!
//! What it costs: both distributions of each guessed position have to be kept, and a rejected guess
//! takes two random numbers. The text of a seed differs from the plain loop's.
//!
//! A common wrong turn: drawing the replacement from `p`. The tokens that the draft likes were
//! accepted already as often as they should be, and would come a second time.

/// With which probability a guess is accepted: `p / q` of the token, at most 1.
pub fn acceptance(p: &[f64], q: &[f64], token: usize) -> f64 {
    if p[token] >= q[token] {
        1.0
    } else {
        p[token] / q[token]
    }
}

/// The distribution from which a token is drawn in the place of a rejected guess, `[vocab]`.
pub fn residual(p: &[f64], q: &[f64]) -> Vec<f64> {
    let missing: Vec<f64> = p.iter().zip(q).map(|(p, q)| (p - q).max(0.0)).collect();
    let sum: f64 = missing.iter().sum();
    if sum == 0.0 {
        return p.to_vec();
    }
    missing.iter().map(|missing| missing / sum).collect()
}
