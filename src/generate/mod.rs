//! The generation loops: a model and a prompt in, tokens out.
//!
//! Read [`naive`] and [`cached`] side by side: they are the same loop with one line changed, and both leave
//! sampling and stopping to `SequenceState`. [`speculated`] is the cached loop with draft tokens.
//! [`batched`] runs several sequences together in a [`Batch`], which they may join and leave at any step:
//! an [`Engine`](crate::engine::Engine) with a sampler for each sequence.
//!
//! The others do something else with a model: [`beam`] searches instead of sampling, [`score`] computes the
//! log-probabilities of a given text, [`embed`] turns it into one vector, [`divergence`] compares two models on
//! it, and [`repetition`] detects a text that repeats itself.

mod batch;
mod batched;
mod beam;
mod cached;
mod divergence;
#[cfg(feature = "burn")]
mod embed;
mod naive;
mod repetition;
mod score;
mod sequence_state;
mod speculated;
mod streaming;

use std::ops::ControlFlow;
use std::sync::Arc;

use serde::Serialize;

use crate::adapter::Adapter;
use crate::constrained::{Constraint, Reasoning};
use crate::error::Result;
use crate::model::Model;
pub use crate::pretrained::Pooling;
use crate::sampling::{Rules, SamplingParams, TokenLogprobs};
pub use batch::{Batch, Event};
pub use batched::batched;
pub use beam::{BeamOptions, Hypothesis, beam};
pub use cached::cached;
pub use divergence::{Divergence, divergence};
#[cfg(feature = "burn")]
pub use embed::{Embedder, embed};
pub use naive::naive;
pub use repetition::{Repetition, repetition};
pub use score::{Score, score};
pub use speculated::speculated;
pub use streaming::stream_text;

/// How to generate: how many tokens, how each is sampled, and what else you want to know about them.
#[derive(Debug, Clone)]
pub struct Options {
    /// The most tokens to generate.
    pub max_tokens: usize,
    /// Prompt tokens per forward pass (chunked prefill), at least 1. With a KV cache, the memory of
    /// activations grows with the chunk, not with the prompt.
    pub chunk: usize,
    /// How each token is sampled.
    pub sampling: SamplingParams,
    /// Rules of your own: see [`Sampler::with_rule`](crate::sampling::Sampler::with_rule).
    pub rules: Rules,
    /// Continue after an end-of-sequence token, which is then a token like any other.
    pub ignore_eos: bool,
    /// Choose only tokens that keep the text inside a grammar. The text ends where nothing can continue
    /// it, but if it reaches `max_tokens` first, it stays unfinished.
    pub constraint: Option<Constraint>,
    /// How a thought before the answer is marked: it keeps to a budget, and [`constraint`](Self::constraint) begins
    /// behind it.
    pub reasoning: Option<Reasoning>,
    /// What changes the model for this text. It must have been read for the same model.
    pub adapter: Option<Arc<Adapter>>,
    /// Report the log-probability of each token, and of this many of the most likely ones. They come from
    /// the model's own distribution, over the tokens that the constraint allows.
    pub logprobs: Option<usize>,
    /// Report the log-probability of each prompt token but the first, as [`score`] does, and of this
    /// many of the most likely tokens at its place. With `max_tokens: 0` you get the prompt's scores and
    /// nothing is generated.
    ///
    /// This works only in a [`Batch`]. [`naive`] and [`cached`] refuse it, because they compute only the
    /// logits that they sample from; if nothing else runs, [`score`] gives you the same numbers. It has a
    /// price: the sequence takes nothing from the prefix cache, whose blocks hold no logits, and under
    /// [`Policy::ChunkedPrefill`](crate::engine::Policy), the default, it reads its prompt in chunks of at
    /// most 64 tokens, whose logits are `[chunk, vocab]`.
    pub prompt_logprobs: Option<usize>,
    /// Tokens that end the text like an end-of-sequence token, even with `ignore_eos`.
    pub stop_ids: Vec<u32>,
    /// Whether to hash the logits: see [`Generation::logits_hash`].
    pub hash_logits: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_tokens: 256,
            chunk: 256,
            sampling: SamplingParams::default(),
            rules: Rules::default(),
            ignore_eos: false,
            constraint: None,
            reasoning: None,
            adapter: None,
            logprobs: None,
            prompt_logprobs: None,
            stop_ids: Vec::new(),
            hash_logits: false,
        }
    }
}

// ANCHOR: token_output
/// A generated token. The concatenated texts of all tokens are the generated text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TokenOutput {
    /// Its text: whole UTF-8. Empty where a token holds only a part of a character, whose text
    /// comes with a later token, and for the part of a stop string.
    pub token: String,
    /// Its id.
    pub token_id: u32,
    /// Its index among the generated tokens, from 0.
    pub index: usize,
    // ANCHOR_END: token_output
    /// Its log-probability, if requested.
    pub logprob: Option<f32>,
    /// The most likely tokens and their log-probabilities, best first: as many as requested.
    pub top_logprobs: Vec<(u32, f32)>,
}

impl TokenOutput {
    /// A token that is not yet decoded to text.
    pub(crate) fn without_text(index: usize, id: u32, logprobs: Option<TokenLogprobs>) -> Self {
        let logprob = logprobs.as_ref().map(|found| found.logprob);
        let top_logprobs = logprobs.map(|found| found.top).unwrap_or_default();
        Self {
            token: String::new(),
            token_id: id,
            index,
            logprob,
            top_logprobs,
        }
    }
}

/// A token, as soon as it is chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen<'a> {
    /// The token, not yet decoded to text.
    pub token: &'a TokenOutput,
    /// The model's logits before any sampling rule, `[vocab]`.
    pub logits: &'a [f32],
}

/// Why a generation ended, without an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model chose an end-of-sequence token, or the constraint allows nothing else.
    Eos,
    /// The model chose one of the request's stop ids.
    StopId(u32),
    /// The model generated one of the request's stop strings.
    StopString(String),
    /// The output has the requested number of tokens.
    Length,
    /// Prompt and output fill the context.
    Context,
    /// The token callback asked to stop.
    Stopped,
    /// The request's deadline has passed.
    Deadline,
    /// The job was cancelled or dropped.
    Cancelled,
    /// The inference was shut down.
    Shutdown,
}

/// The result of a generation.
#[derive(Debug, Clone, PartialEq)]
pub struct Generation {
    /// The generated tokens, without the prompt and without an end-of-sequence or stop token.
    pub ids: Vec<u32>,
    /// One for each of `ids`, where [`Options::logprobs`] asked for it.
    pub logprobs: Vec<TokenLogprobs>,
    /// One for each prompt token but the first, where [`Options::prompt_logprobs`] asked for it;
    /// fewer, if the sequence left before it had read its prompt.
    pub prompt_logprobs: Vec<TokenLogprobs>,
    /// Why the generation ended.
    pub finish_reason: FinishReason,
    /// The memory of the KV cache, in bytes.
    pub kv_cache_bytes: usize,
    /// The number of prompt tokens that the prefix cache spared; only in a [`Batch`].
    pub cached_tokens: usize,
    /// How often the sequence lost its blocks to others and was computed again; only in a
    /// [`Batch`].
    pub preemptions: usize,
    /// How many draft tokens the model has read for this text.
    pub drafted: usize,
    /// How many of them were accepted, as tokens of the text or as the token that ended it.
    pub accepted: usize,
    /// Where [`Options::hash_logits`] asked for it: the SHA-256, in hexadecimal, of all rows of
    /// logits that a token was sampled from, in order, each number as the four little-endian bytes
    /// of its f32. Two generations with the same hash had the same logits, bit by bit.
    pub logits_hash: Option<String>,
}

/// Either loop: [`naive`] or [`cached`].
pub type Loop = fn(
    &Model,
    &[u32],
    &Options,
    &mut dyn FnMut(&Chosen<'_>) -> ControlFlow<()>,
) -> Result<Generation>;
