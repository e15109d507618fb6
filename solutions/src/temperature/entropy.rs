//! Entropy, and the effective number of tokens.
//!
//! Why: `0 * log2(0)` is 0 times minus infinity, which is NaN in floating point, and one NaN makes
//! the whole sum NaN. So you leave out tokens of probability 0, and that is no cheat: as *p* falls,
//! *p* log *p* goes to 0. With log2(1/p) every term is positive, so a sure thing has 0 bits and not
//! -0.
//!
//! What it costs: one logarithm for each token that can come. The sum is an f64, because a
//! vocabulary has many terms that are small next to the sum.
//!
//! A common wrong turn: taking `ln` in one place and a power of 2 in the other. Either pair is
//! right, nats with *e* or bits with 2, and a mixed pair is wrong without looking wrong.

/// The entropy in bits of a distribution `[vocab]`.
pub fn entropy(probabilities: &[f32]) -> f64 {
    let possible = probabilities.iter().filter(|&&p| p > 0.0).map(|&p| f64::from(p));
    possible.map(|p| p * p.recip().log2()).sum()
}

/// 2 to the power of the entropy: among how many equally likely tokens one would be as unsure.
pub fn effective_tokens(probabilities: &[f32]) -> f64 {
    entropy(probabilities).exp2()
}
