//! Under a constraint the text is as good as the model can make it now.
//!
//! Why: top-k kept the best tokens of all, and only then did the constraint remove those that were
//! not allowed. When the grammar asked for something unlikely, that was all of them. The author had
//! seen that, and took any allowed token instead of an error. So tokens were drawn without asking
//! the model. The constraint has to come first: everything after it, top-k, top-p and the others,
//! chooses among what is left.
//!
//! What it costs: nothing.
//!
//! A common wrong turn: a better fallback for when nothing is left. It is still wrong if one token
//! is left that is allowed by chance: the best of the allowed ones are missing then.

/// The distribution that the next token is drawn from, `[vocab]`, under a constraint and with top-k.
pub fn mask_too_late(logits: &[f32], allowed: &[bool], k: usize) -> Vec<f32> {
    let mut scores = logits.to_vec();
    remove(&mut scores, allowed);
    keep_best(&mut scores, k);
    softmax(&scores)
}

/// Removes all tokens that are not allowed.
fn remove(scores: &mut [f32], allowed: &[bool]) {
    for (score, &allowed) in scores.iter_mut().zip(allowed) {
        if !allowed {
            *score = f32::NEG_INFINITY;
        }
    }
}

/// Keeps the `k` best tokens. Of equal ones, the ones with the smaller ids.
fn keep_best(scores: &mut [f32], k: usize) {
    let mut ids: Vec<usize> = (0..scores.len()).collect();
    ids.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    for &id in ids.iter().skip(k) {
        scores[id] = f32::NEG_INFINITY;
    }
}

/// The probabilities of the scores.
fn softmax(scores: &[f32]) -> Vec<f32> {
    let max = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exps: Vec<f32> = scores.iter().map(|score| (score - max).exp()).collect();
    let sum: f32 = exps.iter().sum();
    exps.iter().map(|exp| exp / sum).collect()
}
