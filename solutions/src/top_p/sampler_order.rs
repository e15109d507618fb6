//! All rules in their order.
//!
//! Why: each rule takes scores and leaves scores, and a removed token is -inf. So the order is the
//! order of a few lines, and a rule that needs probabilities takes a softmax of what is there,
//! which renormalises by itself. Greedy leaves early: no filter removes the best token. The
//! greatest score is subtracted before the division by the temperature: the quotients of a tiny one
//! would be infinite, and the difference of two infinities is NaN.
//!
//! What it costs: a softmax for top-p and one at the end.
//!
//! A common wrong turn: computing the probabilities once at the beginning, and handing them to all
//! filters. Top-p then sums up mass that top-k has taken away, and keeps too much.

use std::collections::HashSet;

use slowburn::sampling::softmax;

/// Which rules are applied.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// Above 0. 1 is off.
    pub repetition_penalty: f32,
    /// 0 or above, however small. 0 is greedy.
    pub temperature: f32,
    /// At least 1.
    pub top_k: Option<usize>,
    /// Above 0 and at most 1. 1 removes nothing.
    pub top_p: Option<f32>,
    /// Above 0 and at most 1.
    pub min_p: Option<f32>,
}

/// The distribution that the next token is drawn from, after all rules: `[vocab]` -> `[vocab]`.
/// `logits` are finite, and `said` are ids less than the vocabulary.
pub fn sampler_order(logits: &[f32], said: &[u32], rules: &Rules) -> Vec<f32> {
    let mut scores = logits.to_vec();
    penalise(&mut scores, said, rules.repetition_penalty);
    if rules.temperature == 0.0 {
        return certain(&scores);
    }
    let best = greatest(&scores);
    for score in &mut scores {
        *score = (*score - best) / rules.temperature;
    }
    if let Some(k) = rules.top_k {
        top_k(&mut scores, k);
    }
    if let Some(p) = rules.top_p.filter(|&p| p < 1.0) {
        top_p(&mut scores, p);
    }
    if let Some(share) = rules.min_p {
        let least = greatest(&scores) + share.ln();
        remove_below(&mut scores, least);
    }
    softmax(&scores)
}

fn penalise(scores: &mut [f32], said: &[u32], penalty: f32) {
    for &id in &HashSet::<u32>::from_iter(said.iter().copied()) {
        let score = &mut scores[id as usize];
        *score = if *score < 0.0 {
            *score * penalty
        } else {
            *score / penalty
        };
    }
}

/// The first of the best tokens has the probability 1.
fn certain(scores: &[f32]) -> Vec<f32> {
    let greatest = greatest(scores);
    let best = scores.iter().position(|&score| score == greatest);
    (0..scores.len()).map(|id| if Some(id) == best { 1.0 } else { 0.0 }).collect()
}

fn top_k(scores: &mut [f32], k: usize) {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let kth_best = sorted[k.min(sorted.len()) - 1];
    remove_below(scores, kth_best);
}

fn top_p(scores: &mut [f32], p: f32) {
    let probabilities = softmax(scores);
    let mut ids: Vec<usize> = (0..scores.len()).collect();
    ids.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    let mut mass = 0.0;
    for id in ids {
        if mass >= p {
            scores[id] = f32::NEG_INFINITY;
        }
        mass += probabilities[id];
    }
}

fn greatest(scores: &[f32]) -> f32 {
    scores.iter().copied().fold(f32::NEG_INFINITY, f32::max)
}

fn remove_below(scores: &mut [f32], least: f32) {
    for score in scores {
        if *score < least {
            *score = f32::NEG_INFINITY;
        }
    }
}
