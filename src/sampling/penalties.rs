//! Penalties: make tokens that occurred less likely to occur again.

use std::collections::{HashMap, HashSet};

/// The repetition penalty (Keskar et al., arXiv 1909.05858): lowers the score of every token in the
/// prompt or the output, by dividing a positive score and multiplying a negative one. Each such
/// token is penalised once, however often it occurs.
///
/// Extreme penalties can overflow f32. A product of -inf removes the token, whose probability would
/// be 0 anyway. The caller must refuse a quotient of +inf: several such scores have no greatest.
// ANCHOR: repetition
pub(super) fn repetition(scores: &mut [f32], penalty: f32, prompt: &[u32], output: &[u32]) {
    let seen: HashSet<&u32> = prompt.iter().chain(output).collect();
    for &id in seen {
        if let Some(score) = scores.get_mut(id as usize) {
            *score = if *score < 0.0 {
                *score * penalty
            } else {
                *score / penalty
            };
        }
    }
}
// ANCHOR_END: repetition

/// The frequency penalty of OpenAI's API: proportional to a token's occurrences in the output.
pub(super) fn frequency(scores: &mut [f32], penalty: f32, output: &[u32]) {
    if penalty == 0.0 {
        return;
    }
    let mut counts: HashMap<u32, f32> = HashMap::new();
    for &id in output {
        *counts.entry(id).or_default() += 1.0;
    }
    for (id, count) in counts {
        if let Some(score) = scores.get_mut(id as usize) {
            *score -= penalty * count;
        }
    }
}

/// The presence penalty of OpenAI's API: the same for every token in the output.
pub(super) fn presence(scores: &mut [f32], penalty: f32, output: &[u32]) {
    if penalty == 0.0 {
        return;
    }
    let seen: HashSet<&u32> = output.iter().collect();
    for &id in seen {
        if let Some(score) = scores.get_mut(id as usize) {
            *score -= penalty;
        }
    }
}
