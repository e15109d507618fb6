//! The log-probabilities and the perplexity of a given text.

use crate::error::{DeviceError, Result};
use crate::model::{Input, Logits, Model};
use crate::sampling::{TokenLogprobs, logprobs};

/// The tokens of a text, each with its log-probability given the tokens before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// One for each token but the first, which has no context.
    pub tokens: Vec<TokenLogprobs>,
}

impl Score {
    /// The sum of the log-probabilities, in nats.
    pub fn logprob(&self) -> f64 {
        self.tokens.iter().map(|token| f64::from(token.logprob)).sum()
    }

    /// `exp` of the mean negative log-probability: the number of equally likely tokens that would
    /// be as uncertain. None for a text of one token.
    pub fn perplexity(&self) -> Option<f64> {
        match self.tokens.len() {
            0 => None,
            n => Some((-self.logprob() / n as f64).exp()),
        }
    }
}

/// Tokens per forward pass: the logits of each take a row of `[vocab]`.
pub(super) const CHUNK: usize = 64;

/// Computes the log-probability of each token of `ids`, with those of the `top` most likely tokens.
///
/// # Errors
/// No ids, an id outside the vocabulary, more ids than the context holds, unusable logits.
pub fn score(model: &Model, ids: &[u32], top: usize) -> Result<Score> {
    model.check_prompt(ids)?;
    let (context, targets) = (&ids[..ids.len() - 1], &ids[1..]);
    let mut cache = model.new_cache(context.len())?;
    let mut tokens = Vec::with_capacity(targets.len());
    for (chunk, targets) in context.chunks(CHUNK).zip(targets.chunks(CHUNK)) {
        let rows =
            model.forward(&mut [Input::after(&mut cache, chunk).with_logits(Logits::All)])?;
        score_rows(&rows, targets, top, &mut tokens)?;
    }
    Ok(Score { tokens })
}

/// Appends the log-probability of each of `targets` by its row of logits, `[vocab]`, to `tokens`.
pub(super) fn score_rows(
    rows: &[Vec<f32>],
    targets: &[u32],
    top: usize,
    tokens: &mut Vec<TokenLogprobs>,
) -> Result<()> {
    for (logits, &target) in rows.iter().zip(targets) {
        check_finite(logits, tokens.len())?;
        tokens.push(logprobs(logits, target, top));
    }
    Ok(())
}

/// Refuses the logits of a token, the `step`-th, that are not all finite.
pub(super) fn check_finite(logits: &[f32], step: usize) -> Result<()> {
    if logits.iter().all(|logit| logit.is_finite()) {
        return Ok(());
    }
    let problem = "not all of them are finite";
    Err(DeviceError::Logits { step, problem }.into())
}
