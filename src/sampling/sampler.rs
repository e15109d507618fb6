//! The sampler: the rules in order, and the generator that draws.

use std::fmt;
use std::sync::Arc;

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;

use super::{
    SamplingParams, draw, greedy, logit_bias, min_p, penalties, softmax, temperature, top_k, top_p,
    typical,
};
use crate::error::{Error, Result};
use crate::panics;

/// A custom rule: changes the scores, `[vocab]`, given the prompt and the output so far. A score of
/// -inf removes a token.
pub type Rule = dyn Fn(&mut [f32], &[u32], &[u32]) + Send + Sync;

/// Samples tokens by [`SamplingParams`], with its own generator: the same seed and the same logits
/// give the same tokens, on every device.
#[derive(Clone)]
pub struct Sampler {
    params: SamplingParams,
    rules: Vec<Arc<Rule>>,
    generator: ChaCha12Rng,
}

impl Sampler {
    /// A sampler for one request.
    ///
    /// # Errors
    /// A parameter out of its range.
    pub fn new(params: &SamplingParams) -> Result<Self> {
        params.validate()?;
        Ok(Self {
            params: params.clone(),
            rules: Vec::new(),
            generator: ChaCha12Rng::seed_from_u64(params.seed),
        })
    }

    /// The parameters.
    pub fn params(&self) -> &SamplingParams {
        &self.params
    }

    /// Adds a custom rule, applied to the scores before the temperature.
    pub fn with_rule(mut self, rule: Arc<Rule>) -> Self {
        self.rules.push(rule);
        self
    }

    // ANCHOR: sample
    /// The probability of each token after every rule: 0 for removed tokens, with a sum of 1.
    /// `logits` is `[vocab]`; the penalties count the ids in `prompt` and `output`.
    ///
    /// # Errors
    /// Logits with a NaN or +inf, or without a finite value; the same for scores after a penalty or
    /// a custom rule.
    pub fn distribution(&self, logits: &[f32], prompt: &[u32], output: &[u32]) -> Result<Vec<f32>> {
        Ok(softmax(&self.scores(logits, prompt, output)?))
    }

    /// Draws the next token from [`distribution`](Self::distribution), with the same arguments.
    ///
    /// # Errors
    /// As [`distribution`](Self::distribution).
    pub fn sample(&mut self, logits: &[f32], prompt: &[u32], output: &[u32]) -> Result<u32> {
        let probabilities = self.distribution(logits, prompt, output)?;
        Ok(draw::draw(&probabilities, &mut self.generator))
    }
    // ANCHOR_END: sample

    // ANCHOR: order
    /// The scores after every rule. This function defines their order.
    fn scores(&self, logits: &[f32], prompt: &[u32], output: &[u32]) -> Result<Vec<f32>> {
        let step = output.len();
        check(logits).map_err(|problem| Error::Logits { step, problem })?;
        let after = |rule| move |problem| Error::Scores { step, rule, problem };

        let params = &self.params;
        let mut scores = logits.to_vec();
        logit_bias::apply(&mut scores, &params.logit_bias);
        if params.repetition_penalty != 1.0 {
            penalties::repetition(&mut scores, params.repetition_penalty, prompt, output);
            check(&scores).map_err(after("the repetition penalty"))?;
        }
        penalties::frequency(&mut scores, params.frequency_penalty, output);
        penalties::presence(&mut scores, params.presence_penalty, output);
        for rule in &self.rules {
            rule(&mut scores, prompt, output);
            check(&scores).map_err(after("a rule of the caller's own"))?;
        }
        if params.temperature == 0.0 {
            greedy::keep_best(&mut scores);
            return Ok(scores);
        }
        temperature::apply(&mut scores, params.temperature);
        if let Some(k) = params.top_k {
            top_k::apply(&mut scores, k);
        }
        // 1 keeps all tokens, but a running sum in f32 may reach 1 before the last.
        if let Some(p) = params.top_p.filter(|&p| p < 1.0) {
            top_p::apply(&mut scores, p);
        }
        if let Some(p) = params.min_p {
            min_p::apply(&mut scores, p);
        }
        if let Some(p) = params.typical_p.filter(|&p| p < 1.0) {
            typical::apply(&mut scores, p);
        }
        Ok(scores)
    }
    // ANCHOR_END: order
}

impl Drop for Sampler {
    fn drop(&mut self) {
        // User code: a `Drop` that panics must not end the sequences of other requests.
        self.rules.drain(..).for_each(panics::discard);
    }
}

impl fmt::Debug for Sampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sampler")
            .field("params", &self.params)
            .field("rules", &self.rules.len())
            .finish_non_exhaustive()
    }
}

// ANCHOR: check
/// Refuses scores from which no token can be sampled, and says why.
fn check(scores: &[f32]) -> Result<(), &'static str> {
    let (mut nan, mut infinite, mut finite) = (false, false, false);
    // One pass that never stops early, which the compiler turns into vector instructions.
    for score in scores {
        nan |= score.is_nan();
        infinite |= *score == f32::INFINITY;
        finite |= score.is_finite();
    }
    if nan {
        Err("one of them is NaN")
    } else if infinite {
        Err("one of them is infinite")
    } else if !finite {
        Err("none of them is finite")
    } else {
        Ok(())
    }
}
// ANCHOR_END: check
