//! The sampler: the rules in order, and the generator that draws.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;

use super::{
    SamplingParams, draw, greedy, logit_bias, min_p, penalties, softmax, temperature, top_k, top_p,
    typical,
};
use crate::constrained::{Constraint, Follower, NextTokens, Reasoning};
use crate::error::{DeviceError, Error, RequestError, Result};
use crate::panics;

/// A custom rule: changes the scores, `[vocab]`, given the prompt and the output so far. A score of
/// -inf removes a token.
///
/// What it does must depend on these arguments alone. It may be called more than once for a position,
/// with the scores of a draft model too, and for outputs that are dropped.
pub type Rule = dyn Fn(&mut [f32], &[u32], &[u32]) + Send + Sync;

/// Custom rules, in the order in which they are applied.
#[derive(Clone, Default)]
pub struct Rules(pub Vec<Arc<Rule>>);

/// Samples tokens by [`SamplingParams`], with its own generator: the same seed and the same logits
/// give the same tokens, on every device.
#[derive(Clone, Debug)]
pub struct Sampler {
    params: SamplingParams,
    rules: Rules,
    constraint: Option<Follower>,
    reasoning: Option<Reasoning>,
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
            rules: Rules::default(),
            constraint: None,
            reasoning: None,
            generator: ChaCha12Rng::seed_from_u64(params.seed),
        })
    }

    /// The parameters.
    pub fn params(&self) -> &SamplingParams {
        &self.params
    }

    /// Adds a custom rule, applied to the scores before the temperature.
    pub fn with_rule(mut self, rule: Arc<Rule>) -> Self {
        self.rules.0.push(rule);
        self
    }

    /// Whether it has custom rules.
    pub(crate) fn has_rules(&self) -> bool {
        !self.rules.0.is_empty()
    }

    /// From now on, only tokens that keep the output inside a grammar may be chosen.
    pub fn with_constraint(mut self, constraint: &Constraint) -> Self {
        self.constraint = Some(constraint.follow());
        self
    }

    /// From now on, the constraint begins behind the model's thought, and a thought keeps to its budget.
    pub fn with_reasoning(mut self, reasoning: &Reasoning) -> Self {
        self.reasoning = Some(reasoning.clone());
        self
    }

    /// Whether the next token is the most likely one by the logits, whatever came before it: greedy, and
    /// no rule changes a score.
    #[cfg(feature = "text")]
    pub(crate) fn takes_most_likely(&self) -> bool {
        let plain = SamplingParams {
            temperature: 0.0,
            // What greedy skips.
            top_k: self.params.top_k,
            top_p: self.params.top_p,
            min_p: self.params.min_p,
            typical_p: self.params.typical_p,
            seed: self.params.seed,
            ..SamplingParams::default()
        };
        let is_free = self.constraint.is_none() && self.reasoning.is_none();
        self.params == plain && !self.has_rules() && is_free
    }

    /// The constraint on the output, if there is one.
    pub fn constraint(&self) -> Option<&Follower> {
        self.constraint.as_ref()
    }

    /// The tokens that may come after `output`, in a vocabulary of this size; None for any.
    ///
    /// # Errors
    /// As [`Follower::next`].
    pub fn next(&self, output: &[u32], vocab_size: usize) -> Result<Option<NextTokens>> {
        let follower = self.constraint.as_ref();
        match &self.reasoning {
            Some(reasoning) => reasoning.next(follower, output, vocab_size),
            None => follower.map(|follower| follower.next(output)).transpose(),
        }
    }

    /// The tokens that must come after `output`, as long as there is one choice: `most` at most.
    ///
    /// # Errors
    /// As [`Follower::next`].
    pub fn forced(&self, output: &[u32], most: usize) -> Result<Vec<u32>> {
        match (&self.reasoning, &self.constraint) {
            (Some(reasoning), follower) => reasoning.forced(follower.as_ref(), output, most),
            (None, Some(follower)) => follower.forced(output, most),
            (None, None) => Ok(Vec::new()),
        }
    }

    // ANCHOR: constrained
    /// The logits, `[vocab]`, without the tokens that the constraint does not allow after `output`.
    ///
    /// # Errors
    /// An output outside the grammar.
    pub fn constrained<'a>(&self, logits: &'a [f32], output: &[u32]) -> Result<Cow<'a, [f32]>> {
        let Some(next) = self.next(output, logits.len())? else {
            return Ok(Cow::Borrowed(logits));
        };
        let mut scores = logits.to_vec();
        next.mask().apply(&mut scores);
        Ok(Cow::Owned(scores))
    }
    // ANCHOR_END: constrained

    /// The probability of each token after every rule: 0 for removed tokens, with a sum of 1.
    /// `logits` is `[vocab]`; the penalties count the ids in `prompt` and `output`.
    ///
    /// # Errors
    /// Logits with a NaN or +inf, or without a finite value; the same for scores after the constraint,
    /// a penalty or a custom rule; an output that the constraint does not allow.
    pub fn distribution(&self, logits: &[f32], prompt: &[u32], output: &[u32]) -> Result<Vec<f32>> {
        Ok(softmax(&self.scores(logits, prompt, output)?))
    }

    /// Draws the next token from [`distribution`](Self::distribution), with the same arguments. Each
    /// token takes one number of the generator, also where the constraint leaves one choice.
    ///
    /// # Errors
    /// As [`distribution`](Self::distribution).
    // ANCHOR: sample
    pub fn sample(&mut self, logits: &[f32], prompt: &[u32], output: &[u32]) -> Result<u32> {
        if let Some(next) = self.next(output, logits.len())?
            && let Some(only) = next.mask().only()
        {
            draw::skip(&mut self.generator);
            return Ok(only);
        }
        let probabilities = self.distribution(logits, prompt, output)?;
        Ok(self.draw(&probabilities))
    }
    // ANCHOR_END: sample

    /// Draws a token from a distribution, `[vocab]`.
    pub fn draw(&mut self, probabilities: &[f32]) -> u32 {
        draw::draw(probabilities, &mut self.generator)
    }

    /// A number from 0 to 1 from its generator, uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        draw::uniform(&mut self.generator)
    }

    /// A sampler with the same rules, whose numbers are independent of those of this one and of other
    /// streams. This one has stream 0.
    pub fn on_stream(&self, stream: u64) -> Self {
        let mut sampler = self.clone();
        sampler.generator.set_stream(stream);
        sampler
    }

    /// The scores after every rule. This function defines their order.
    fn scores(&self, logits: &[f32], prompt: &[u32], output: &[u32]) -> Result<Vec<f32>> {
        let step = output.len();
        check(logits).map_err(|problem| Error::Device(DeviceError::Logits { step, problem }))?;
        let after =
            |rule| move |problem| Error::Request(RequestError::Scores { step, rule, problem });

        let params = &self.params;
        let mut scores = self.constrained(logits, output)?.into_owned();
        if self.constraint.is_some() {
            check(&scores).map_err(after("the constraint"))?;
        }
        // ANCHOR: order
        logit_bias::apply(&mut scores, &params.logit_bias);
        if params.repetition_penalty != 1.0 {
            penalties::repetition(&mut scores, params.repetition_penalty, prompt, output);
            check(&scores).map_err(after("the repetition penalty"))?;
        }
        penalties::frequency(&mut scores, params.frequency_penalty, output);
        penalties::presence(&mut scores, params.presence_penalty, output);
        for rule in &self.rules.0 {
            rule(&mut scores, prompt, output);
            check(&scores).map_err(after("a rule of the caller's own"))?;
        }
        if self.has_rules()
            && let Some(next) = self.next(output, logits.len())?
        {
            // A caller's rule may have let tokens in again.
            next.mask().apply(&mut scores);
            check(&scores).map_err(after("the constraint and a rule of the caller's own"))?;
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
        // ANCHOR_END: order
    }
}

impl Drop for Rules {
    fn drop(&mut self) {
        // User code: a `Drop` that panics must not end the sequences of other requests.
        self.0.drain(..).for_each(panics::discard);
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rules", self.0.len())
    }
}

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
