//! How far one model's distributions are from another's.

use crate::error::Result;
use crate::model::{Input, Logits, Model};

use super::score::{CHUNK, check_finite};

/// The next-token distributions of a model, compared with those of a reference at each position of
/// a text: of a quantized model, say, with those of the same model in f32.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Divergence {
    /// The positions compared. The first token of a text has none.
    pub tokens: usize,
    /// The sum of `-log p` of the text's tokens under the model, in nats.
    pub nats: f64,
    /// The sum of the Kullback-Leibler divergences from the reference, in nats: what is lost, on
    /// average, by expecting the model's distribution where tokens follow the reference's.
    pub kl: f64,
    /// The positions at which both have the same most likely token.
    pub same_greedy: usize,
}

impl Divergence {
    /// `exp` of the mean `-log p`: the perplexity of the texts.
    pub fn perplexity(&self) -> f64 {
        (self.nats / self.tokens as f64).exp()
    }

    /// The mean Kullback-Leibler divergence, in nats per token.
    pub fn mean_kl(&self) -> f64 {
        self.kl / self.tokens as f64
    }

    /// The share of positions with the same most likely token, from 0 to 1.
    pub fn same_greedy_share(&self) -> f64 {
        self.same_greedy as f64 / self.tokens as f64
    }

    /// Adds the positions of another text.
    pub fn add(&mut self, other: &Self) {
        self.tokens += other.tokens;
        self.nats += other.nats;
        self.kl += other.kl;
        self.same_greedy += other.same_greedy;
    }
}

/// Compares `model` with `reference`, which has the same vocabulary, over the text `ids`.
///
/// # Errors
/// No ids, an id outside the vocabulary, more ids than the context holds, unusable logits.
pub fn divergence(reference: &Model, model: &Model, ids: &[u32]) -> Result<Divergence> {
    model.check_prompt(ids)?;
    let (context, targets) = (&ids[..ids.len() - 1], &ids[1..]);
    let mut caches = [
        reference.new_cache(context.len())?,
        model.new_cache(context.len())?,
    ];
    let mut found = Divergence::default();
    for (chunk, targets) in context.chunks(CHUNK).zip(targets.chunks(CHUNK)) {
        let [expected, rows] = {
            let [reference_cache, cache] = &mut caches;
            let all = |cache| [Input::after(cache, chunk).with_logits(Logits::All)];
            [
                reference.forward(&mut all(reference_cache))?,
                model.forward(&mut all(cache))?,
            ]
        };
        for ((expected, row), &target) in expected.iter().zip(&rows).zip(targets) {
            check_finite(expected, found.tokens)?;
            check_finite(row, found.tokens)?;
            let (expected, log_p) = (log_softmax(expected), log_softmax(row));
            let kl = expected.iter().zip(&log_p).map(|(p, q)| p.exp() * (p - q)).sum::<f64>();
            found.add(&Divergence {
                tokens: 1,
                nats: -log_p[target as usize],
                kl,
                same_greedy: usize::from(greatest(&expected) == greatest(&log_p)),
            });
        }
    }
    Ok(found)
}

fn log_softmax(logits: &[f32]) -> Vec<f64> {
    let greatest = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    let sum: f64 = logits.iter().map(|logit| (f64::from(*logit) - greatest).exp()).sum();
    logits.iter().map(|logit| f64::from(*logit) - greatest - sum.ln()).collect()
}

/// The place of the greatest number, the first of equal ones.
fn greatest(numbers: &[f64]) -> Option<usize> {
    (0..numbers.len()).max_by(|&a, &b| numbers[a].total_cmp(&numbers[b]).then(b.cmp(&a)))
}
