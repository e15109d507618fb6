//! What a distribution is like: how uncertain it is, and over how many tokens.

// ANCHOR: entropy
/// The entropy in bits: the surprise to expect. `probabilities` are `[vocab]`.
pub fn entropy_bits(probabilities: &[f32]) -> f64 {
    let terms = probabilities.iter().filter(|&&p| p > 0.0).map(|&p| f64::from(p));
    // Each surprise is positive, so that a sure thing has an entropy of 0 and not of -0.
    terms.map(|p| p * p.recip().log2()).sum()
}

/// The perplexity, `2^entropy`: over how many equally likely tokens one would be as uncertain.
pub fn effective_tokens(probabilities: &[f32]) -> f64 {
    entropy_bits(probabilities).exp2()
}
// ANCHOR_END: entropy

/// How many tokens can be drawn.
pub fn survivors(probabilities: &[f32]) -> usize {
    probabilities.iter().filter(|&&p| p > 0.0).count()
}

/// The tokens that can be drawn with their probabilities, most likely first; of equals, the
/// lower id.
pub fn ranked(probabilities: &[f32]) -> Vec<(u32, f32)> {
    let mut ranked: Vec<(u32, f32)> =
        (0u32..).zip(probabilities.iter().copied()).filter(|&(_, p)| p > 0.0).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked
}
