//! A request to generate text.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::constrained::Reasoning;
use crate::error::{RequestError, Result};
use crate::grammar::Grammar;
use crate::pretrained::Pretrained;
use crate::sampling::SamplingParams;
use crate::tokenizer::StopStrings;

// ANCHOR: request
/// A prompt and the parameters to continue it. In JSON all fields but `prompt` are optional, the
/// sampling parameters are fields beside the others, and an unknown field is an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenerateRequest {
    /// The text or token ids to continue.
    pub prompt: Prompt,
    /// The maximum number of tokens to generate: 1 or greater, or 0 with `prompt_logprobs`.
    #[serde(default = "default_max_tokens")]
    pub max_tokens: usize,
    /// How each token is sampled.
    #[serde(flatten)]
    pub sampling: SamplingParams,
    /// Stop strings: generation ends at the first, which is not part of the output. At most 64, of
    /// at most 256 bytes each ([`StopStrings::validate`]).
    #[serde(default)]
    pub stop: Vec<String>,
    // ANCHOR_END: request
    /// Stop tokens: generation ends at the first, which is not part of the output.
    #[serde(default)]
    pub stop_ids: Vec<u32>,
    /// Continue after an end-of-sequence token, which is then kept like any other.
    #[serde(default)]
    pub ignore_eos: bool,
    /// The texts that are allowed: see [`Options::constraint`](crate::Options::constraint).
    #[serde(default)]
    pub grammar: Option<Grammar>,
    /// How a thought before the answer is marked, from
    /// [`Thoughts::reasoning`](crate::tokenizer::Thoughts::reasoning): see
    /// [`Options::reasoning`](crate::Options::reasoning).
    #[serde(skip)]
    pub reasoning: Option<Reasoning>,
    /// What changes the model for this text: the name of one of its
    /// [adapters](crate::Pretrained::adapters).
    #[serde(default)]
    pub adapter: Option<String>,
    /// Report the log-probability of each token, and of this many of the most likely tokens.
    #[serde(default)]
    pub logprobs: Option<usize>,
    /// Report the log-probability of each prompt token but the first, and of this many of the most
    /// likely tokens at its place, in the [`Completion`](super::Completion). `max_tokens` may then be
    /// 0: nothing is generated.
    #[serde(default)]
    pub prompt_logprobs: Option<usize>,
    /// The longest that the sequence may take, time in the queue included. In JSON: seconds.
    #[serde(default, with = "seconds")]
    pub deadline: Option<Duration>,
}

fn default_max_tokens() -> usize {
    256
}

impl GenerateRequest {
    /// At most 256 tokens, sampled from the model's unmodified distribution.
    pub fn new(prompt: impl Into<Prompt>) -> Self {
        Self {
            prompt: prompt.into(),
            max_tokens: default_max_tokens(),
            sampling: SamplingParams::default(),
            stop: Vec::new(),
            stop_ids: Vec::new(),
            ignore_eos: false,
            grammar: None,
            reasoning: None,
            adapter: None,
            logprobs: None,
            prompt_logprobs: None,
            deadline: None,
        }
    }

    /// Sets [`max_tokens`](Self::max_tokens).
    pub fn with_max_tokens(mut self, max_tokens: usize) -> Self {
        self.max_tokens = max_tokens;
        self
    }

    /// Sets all sampling parameters at once.
    pub fn with_sampling(mut self, sampling: SamplingParams) -> Self {
        self.sampling = sampling;
        self
    }

    /// Sets [`SamplingParams::temperature`].
    pub fn with_temperature(mut self, temperature: f32) -> Self {
        self.sampling.temperature = temperature;
        self
    }

    /// Sets [`SamplingParams::seed`].
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.sampling.seed = seed;
        self
    }

    /// Adds a stop string to [`stop`](Self::stop).
    pub fn with_stop(mut self, string: impl Into<String>) -> Self {
        self.stop.push(string.into());
        self
    }

    /// Adds a stop token to [`stop_ids`](Self::stop_ids).
    pub fn with_stop_id(mut self, id: u32) -> Self {
        self.stop_ids.push(id);
        self
    }

    /// Sets [`ignore_eos`](Self::ignore_eos).
    pub fn with_ignore_eos(mut self, ignore_eos: bool) -> Self {
        self.ignore_eos = ignore_eos;
        self
    }

    /// Sets [`grammar`](Self::grammar).
    pub fn with_grammar(mut self, grammar: Grammar) -> Self {
        self.grammar = Some(grammar);
        self
    }

    /// Sets [`adapter`](Self::adapter).
    pub fn with_adapter(mut self, name: impl Into<String>) -> Self {
        self.adapter = Some(name.into());
        self
    }

    /// Sets [`logprobs`](Self::logprobs).
    pub fn with_logprobs(mut self, top: usize) -> Self {
        self.logprobs = Some(top);
        self
    }

    /// Sets [`prompt_logprobs`](Self::prompt_logprobs).
    pub fn with_prompt_logprobs(mut self, top: usize) -> Self {
        self.prompt_logprobs = Some(top);
        self
    }

    /// Sets [`deadline`](Self::deadline).
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Validates every field by itself. Whether the prompt fits the context length depends on the
    /// model and is not checked here.
    ///
    /// # Errors
    /// The first invalid field: its name, value and allowed range.
    pub fn validate(&self) -> Result<()> {
        let refuse = |name, value: &str, allowed| {
            Err(RequestError::Parameter { name, value: value.to_owned(), allowed }.into())
        };
        if self.max_tokens == 0 && self.prompt_logprobs.is_none() {
            return refuse("max_tokens", "0", "1 or greater, or 0 with `prompt_logprobs`");
        }
        StopStrings::validate(&self.stop)?;
        if self.deadline == Some(Duration::ZERO) {
            return refuse("deadline", "0", "longer than nothing (leave it out for none)");
        }
        self.sampling.validate()
    }
}

/// A text, or token ids. In JSON: a string, or a list of numbers. If empty, the prompt is the
/// begin-of-sequence token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a prompt must be a string, or a list of token ids"
)]
pub enum Prompt {
    Text(String),
    Ids(Vec<u32>),
}

impl Prompt {
    /// The token ids of the prompt.
    pub(super) fn ids(&self, pretrained: &Pretrained) -> Result<Vec<u32>> {
        match self {
            Prompt::Text(text) => pretrained.prompt_ids(text),
            Prompt::Ids(ids) if ids.is_empty() => pretrained.prompt_ids(""),
            Prompt::Ids(ids) => Ok(ids.clone()),
        }
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Prompt::Text(text.to_owned())
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Prompt::Text(text)
    }
}

impl From<Vec<u32>> for Prompt {
    fn from(ids: Vec<u32>) -> Self {
        Prompt::Ids(ids)
    }
}

/// A duration as a number of seconds.
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
