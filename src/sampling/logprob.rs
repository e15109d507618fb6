//! Log-probabilities under the model's own distribution: before any sampling rule except a constraint.

use serde::Serialize;

/// The log-probability of a sampled token, and of the most likely ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TokenLogprobs {
    /// The token that was sampled.
    pub id: u32,
    /// Its natural log-probability.
    pub logprob: f32,
    /// The most likely tokens and their log-probabilities, best first.
    pub top: Vec<(u32, f32)>,
}

/// Log-probabilities from raw logits, `[vocab]`: of the token `id` and of the `n` most likely
/// tokens. Ties are ordered by id. A token that was removed, with a logit of -inf, is none of them.
pub fn logprobs(logits: &[f32], id: u32, n: usize) -> TokenLogprobs {
    let log_sum = log_sum_exp(logits);
    let logprob = |id: u32| (f64::from(logits[id as usize]) - log_sum) as f32;
    let is_left = |&id: &u32| logits[id as usize] > f32::NEG_INFINITY;
    let mut ids: Vec<u32> = (0..logits.len() as u32).filter(is_left).collect();
    let better =
        |a: &u32, b: &u32| logits[*b as usize].total_cmp(&logits[*a as usize]).then(a.cmp(b));
    let n = n.min(ids.len());
    if n < ids.len() {
        ids.select_nth_unstable_by(n, better);
        ids.truncate(n);
    }
    ids.sort_unstable_by(better);
    TokenLogprobs {
        id,
        logprob: logprob(id),
        top: ids.iter().map(|&id| (id, logprob(id))).collect(),
    }
}

/// `log(sum_i exp(x_i))` without overflow.
fn log_sum_exp(logits: &[f32]) -> f64 {
    let max = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    let sum: f64 = logits.iter().map(|&logit| (f64::from(logit) - max).exp()).sum();
    max + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_probabilities_sum_to_one_and_are_sorted() {
        let found = logprobs(&[2.0, 1.5, 1.0, 2.0], 2, 4);
        let sum: f32 = found.top.iter().map(|(_, logprob)| logprob.exp()).sum();
        assert!((sum - 1.0).abs() < 1e-6);
        let ids: Vec<u32> = found.top.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, [0, 3, 1, 2]);
        assert_eq!(found.logprob, found.top[3].1);
    }

    #[test]
    fn asking_for_more_than_there_are_gives_all() {
        assert_eq!(logprobs(&[0.0, 0.0], 0, 10).top.len(), 2);
        assert!(logprobs(&[0.0, 0.0], 0, 0).top.is_empty());
    }
}
