//! A bug hunt: every text matches, and some of them are nonsense.

/// The distribution that the next token is drawn from, `[vocab]`, under a constraint and with
/// top-k.
///
/// **What was observed.** Texts under a grammar match it, all of them. Most are good. But if the
/// grammar asks for something that the model would seldom write, such as `cat` after "a dog
/// called", the text goes on with any letters: `Xzrh`. With a larger `k` that happens less often,
/// and without top-k never.
///
/// Find the reason, and fix it. What should be:
///
/// - `logits` and `allowed` are `[vocab]`. At least one token is allowed, all logits are finite and
///   none is -0.0, and `k` is at least 1.
/// - Only allowed tokens have a probability, and of these the `k` with the highest logits, or all
///   if they are fewer. Of equal ones, the ones with the smaller ids.
/// - Their probabilities are the softmax of their logits.
pub fn mask_too_late(logits: &[f32], allowed: &[bool], k: usize) -> Vec<f32> {
    let mut scores = logits.to_vec();
    keep_best(&mut scores, k);
    remove(&mut scores, allowed);
    if scores.iter().all(|&score| score == f32::NEG_INFINITY) {
        // None of the best is allowed: any token that is.
        for (score, &allowed) in scores.iter_mut().zip(allowed) {
            if allowed {
                *score = 0.0;
            }
        }
    }
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
