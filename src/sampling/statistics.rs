//! Statistics of a distribution: its uncertainty, and the number of candidate tokens.

// ANCHOR: entropy
/// The entropy in bits: the expected surprise. `probabilities` are `[vocab]`.
pub fn entropy_bits(probabilities: &[f32]) -> f64 {
    let terms = probabilities.iter().filter(|&&p| p > 0.0).map(|&p| f64::from(p));
    // `p * log2(1 / p)` rather than `-p * log2(p)`: a certain token has an entropy of 0, not -0.
    terms.map(|p| p * p.recip().log2()).sum()
}

/// The perplexity, `2^entropy`: the number of equally likely tokens with the same entropy.
pub fn effective_tokens(probabilities: &[f32]) -> f64 {
    entropy_bits(probabilities).exp2()
}
// ANCHOR_END: entropy

/// The number of tokens with a probability above 0.
pub fn survivors(probabilities: &[f32]) -> usize {
    probabilities.iter().filter(|&&p| p > 0.0).count()
}

/// The tokens with a probability above 0, most likely first. Ties are ordered by id.
pub fn ranked(probabilities: &[f32]) -> Vec<(u32, f32)> {
    let mut ranked: Vec<(u32, f32)> =
        (0u32..).zip(probabilities.iter().copied()).filter(|&(_, p)| p > 0.0).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked
}
