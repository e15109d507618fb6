//! The sampling parameters of a request.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::logit_bias;
use crate::error::{RequestError, Result};

/// How to choose the next token: the parameters of a [`Sampler`](super::Sampler). By default it samples
/// from the model's unmodified distribution.
///
/// ```
/// use slowburn::SamplingParams;
/// use slowburn::sampling::Sampler;
///
/// let params = SamplingParams { temperature: 0.7, top_p: Some(0.9), seed: 42, ..Default::default() };
/// let mut sampler = Sampler::new(&params)?;
/// // The logits of a vocabulary of three tokens, after a prompt of token 1.
/// let token = sampler.sample(&[2.0, -1.0, 0.5], &[1], &[])?;
/// assert!(token < 3);
/// # Ok::<(), slowburn::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SamplingParams {
    /// What the scores are divided by: below 1 sharpens the distribution, above 1 flattens it, and 0 is
    /// greedy, which always takes the most likely token.
    pub temperature: f32,
    /// Keep the k most likely tokens; a k above the vocabulary size keeps all.
    pub top_k: Option<usize>,
    /// Keep the smallest set of most likely tokens whose probabilities sum to at least this.
    pub top_p: Option<f32>,
    /// Keep the tokens that are at least this many times as likely as the most likely token.
    pub min_p: Option<f32>,
    /// Keep the tokens whose surprise is closest to the entropy, until their probabilities sum to
    /// at least this.
    pub typical_p: Option<f32>,
    /// Makes tokens of the prompt and the output less likely (above 1) or more likely (below 1).
    pub repetition_penalty: f32,
    /// Subtracted from a token's score once for each of its occurrences in the output.
    pub frequency_penalty: f32,
    /// Subtracted once from the score of each token that occurs in the output.
    pub presence_penalty: f32,
    /// Added to the score of a token, by token id, before the penalties: from -100, which all but
    /// bans the token, to 100, which all but forces it. In JSON, the ids are strings.
    #[serde(deserialize_with = "logit_bias::deserialize")]
    pub logit_bias: BTreeMap<u32, f32>,
    /// The seed of the generator.
    pub seed: u64,
}

impl Default for SamplingParams {
    fn default() -> Self {
        Self {
            temperature: 1.0,
            top_k: None,
            top_p: None,
            min_p: None,
            typical_p: None,
            repetition_penalty: 1.0,
            frequency_penalty: 0.0,
            presence_penalty: 0.0,
            logit_bias: BTreeMap::new(),
            seed: 0,
        }
    }
}

impl SamplingParams {
    /// Checks every parameter that does not depend on the model.
    ///
    /// # Errors
    /// The first invalid parameter, with its value and allowed range.
    pub fn validate(&self) -> Result<()> {
        let share = "greater than 0 and at most 1";
        let is_share = |p: f32| p > 0.0 && p <= 1.0;
        let penalty = "from -2 to 2";
        let is_penalty = |penalty: f32| (-2.0..=2.0).contains(&penalty);

        let Self { temperature, repetition_penalty, .. } = *self;
        let (frequency, presence) = (self.frequency_penalty, self.presence_penalty);
        let positive = |value: f32| value.is_finite() && value > 0.0;
        require("temperature", temperature, "0 or greater (0 is greedy)", |temperature| {
            temperature.is_finite() && temperature >= 0.0
        })?;
        if let Some(k) = self.top_k {
            require("top_k", k, "1 or greater (leave it out to keep all)", |k| k >= 1)?;
        }
        if let Some(p) = self.top_p {
            require("top_p", p, share, is_share)?;
        }
        if let Some(p) = self.min_p {
            require("min_p", p, "from 0 to 1", |p| (0.0..=1.0).contains(&p))?;
        }
        if let Some(p) = self.typical_p {
            require("typical_p", p, share, is_share)?;
        }
        require("repetition_penalty", repetition_penalty, "greater than 0 (1 is off)", positive)?;
        require("frequency_penalty", frequency, penalty, is_penalty)?;
        require("presence_penalty", presence, penalty, is_penalty)?;
        match self.logit_bias.iter().find(|(_, bias)| !(-100.0..=100.0).contains(*bias)) {
            None => Ok(()),
            Some((id, bias)) => Err(RequestError::Parameter {
                name: "logit_bias",
                value: format!("{bias} for token id {id}"),
                allowed: "from -100 to 100",
            }
            .into()),
        }
    }

    /// Checks that every token id is one of a vocabulary of this size.
    ///
    /// # Errors
    /// The greatest id, if it is outside.
    pub fn check_vocabulary(&self, vocab_size: usize) -> Result<()> {
        match self.logit_bias.last_key_value() {
            Some((&id, _)) if id as usize >= vocab_size => Err(RequestError::Parameter {
                name: "logit_bias",
                value: format!("for token id {id}, in a vocabulary of {vocab_size} tokens"),
                allowed: "for ids of the vocabulary",
            }
            .into()),
            _ => Ok(()),
        }
    }
}

fn require<T: Copy + ToString>(
    name: &'static str,
    value: T,
    allowed: &'static str,
    holds: impl Fn(T) -> bool,
) -> Result<()> {
    if holds(value) {
        Ok(())
    } else {
        Err(RequestError::Parameter { name, value: value.to_string(), allowed }.into())
    }
}
