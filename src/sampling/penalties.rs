//! Penalties: make what was said less likely to be said again.

use std::collections::{HashMap, HashSet};

// ANCHOR: repetition
/// The repetition penalty (Keskar et al., arXiv 1909.05858): divides the score of every token
/// that occurred in the prompt or the output, or multiplies it where it is negative, so that it
/// falls either way. However often a token occurred, it is penalised once.
///
/// Far from 1 a score may leave the range of f32. A product that becomes -inf removes the token,
/// as its probability would be 0. A quotient that becomes +inf is the caller's to refuse: which
/// of several is the greatest can no longer be told.
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

// ANCHOR: frequency
/// The frequency penalty of OpenAI's API: grows with every time that a token is in the output.
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
// ANCHOR_END: frequency

// ANCHOR: presence
/// The presence penalty of OpenAI's API: the same for every token that is in the output.
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
// ANCHOR_END: presence
