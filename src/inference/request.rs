//! What a caller asks for.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Prompt;
use crate::error::{Error, Result};
use crate::generate::Options;
use crate::sampling::SamplingParams;
use crate::tokenizer::StopStrings;

// ANCHOR: request
/// A text to go on from, and how. In JSON all fields but `prompt` may be left out, those of
/// the sampling lie beside the others, and an unknown one is an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenerateRequest {
    /// What the model goes on from.
    pub prompt: Prompt,
    /// How many tokens at most.
    #[serde(default = "default_max_tokens")]
    pub max_tokens: usize,
    /// How each is chosen.
    #[serde(flatten)]
    pub sampling: SamplingParams,
    /// Texts at which the generation ends. They are no part of it. There may be 64, of at most
    /// 256 bytes each ([`StopStrings::validate`]).
    #[serde(default)]
    pub stop: Vec<String>,
    /// Tokens at which the generation ends. They are no part of it.
    #[serde(default)]
    pub stop_ids: Vec<u32>,
    /// Go on after an end-of-sequence token, which is then kept like any other.
    #[serde(default)]
    pub ignore_eos: bool,
    /// Report the log-probability of each token, and of this many of the most likely ones.
    #[serde(default)]
    pub logprobs: Option<usize>,
    /// How long it may take, the time before its turn included. In JSON: seconds.
    #[serde(default, with = "seconds")]
    pub deadline: Option<Duration>,
}
// ANCHOR_END: request

fn default_max_tokens() -> usize {
    256
}

impl GenerateRequest {
    /// At most 256 tokens, sampled from the model's own distribution.
    pub fn new(prompt: impl Into<Prompt>) -> Self {
        Self {
            prompt: prompt.into(),
            max_tokens: default_max_tokens(),
            sampling: SamplingParams::default(),
            stop: Vec::new(),
            stop_ids: Vec::new(),
            ignore_eos: false,
            logprobs: None,
            deadline: None,
        }
    }

    /// Sets [`max_tokens`](Self::max_tokens).
    pub fn with_max_tokens(mut self, max_tokens: usize) -> Self {
        self.max_tokens = max_tokens;
        self
    }

    /// Sets all parameters of the sampling at once.
    pub fn with_sampling(mut self, sampling: SamplingParams) -> Self {
        self.sampling = sampling;
        self
    }

    /// Sets [`SamplingParams::temperature`].
    pub fn with_temperature(mut self, temperature: f32) -> Self {
        self.sampling.temperature = temperature;
        self
    }

    /// Sets [`SamplingParams::top_k`].
    pub fn with_top_k(mut self, top_k: usize) -> Self {
        self.sampling.top_k = Some(top_k);
        self
    }

    /// Sets [`SamplingParams::top_p`].
    pub fn with_top_p(mut self, top_p: f32) -> Self {
        self.sampling.top_p = Some(top_p);
        self
    }

    /// Sets [`SamplingParams::min_p`].
    pub fn with_min_p(mut self, min_p: f32) -> Self {
        self.sampling.min_p = Some(min_p);
        self
    }

    /// Sets [`SamplingParams::typical_p`].
    pub fn with_typical_p(mut self, typical_p: f32) -> Self {
        self.sampling.typical_p = Some(typical_p);
        self
    }

    /// Sets [`SamplingParams::repetition_penalty`].
    pub fn with_repetition_penalty(mut self, penalty: f32) -> Self {
        self.sampling.repetition_penalty = penalty;
        self
    }

    /// Sets [`SamplingParams::frequency_penalty`].
    pub fn with_frequency_penalty(mut self, penalty: f32) -> Self {
        self.sampling.frequency_penalty = penalty;
        self
    }

    /// Sets [`SamplingParams::presence_penalty`].
    pub fn with_presence_penalty(mut self, penalty: f32) -> Self {
        self.sampling.presence_penalty = penalty;
        self
    }

    /// Sets [`SamplingParams::seed`].
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.sampling.seed = seed;
        self
    }

    /// Adds a text to [`stop`](Self::stop).
    pub fn with_stop(mut self, string: impl Into<String>) -> Self {
        self.stop.push(string.into());
        self
    }

    /// Adds a token to [`stop_ids`](Self::stop_ids).
    pub fn with_stop_id(mut self, id: u32) -> Self {
        self.stop_ids.push(id);
        self
    }

    /// Sets [`ignore_eos`](Self::ignore_eos).
    pub fn with_ignore_eos(mut self, ignore_eos: bool) -> Self {
        self.ignore_eos = ignore_eos;
        self
    }

    /// Sets [`logprobs`](Self::logprobs).
    pub fn with_logprobs(mut self, top: usize) -> Self {
        self.logprobs = Some(top);
        self
    }

    /// Sets [`deadline`](Self::deadline).
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Checks every field by itself. Whether the prompt fits into the context is known only to
    /// the model.
    ///
    /// # Errors
    /// The first that is out of its range, by its name, with its value and that range.
    pub fn validate(&self) -> Result<()> {
        let refuse = |name, value: &str, allowed| {
            Err(Error::Parameter { name, value: value.to_owned(), allowed })
        };
        if self.max_tokens == 0 {
            return refuse("max_tokens", "0", "1 or greater");
        }
        StopStrings::validate(&self.stop)?;
        if self.deadline == Some(Duration::ZERO) {
            return refuse("deadline", "0", "longer than nothing (leave it out for none)");
        }
        self.sampling.validate()
    }

    /// What a batch needs to know of it.
    pub(super) fn options(&self) -> Options {
        Options {
            max_tokens: self.max_tokens,
            sampling: self.sampling.clone(),
            ignore_eos: self.ignore_eos,
            logprobs: self.logprobs,
            stop_ids: self.stop_ids.clone(),
            ..Options::default()
        }
    }
}

/// A span of time as a number of seconds.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub fn serialize<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        time.map(|time| time.as_secs_f64()).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let seconds = Option::<f64>::deserialize(from)?;
        seconds.map(Duration::try_from_secs_f64).transpose().map_err(D::Error::custom)
    }
}
