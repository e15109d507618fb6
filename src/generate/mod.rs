//! The loops that write: a model and a prompt in, tokens out.
//!
//! [`naive`] and [`cached`] are the same loop with one line changed. What they share, the
//! choice of a token and the reasons to stop, is in `Run`. [`batched`] runs several sequences
//! side by side, which a [`Batch`] lets join and leave at any step. [`beam`] searches instead of
//! drawing, [`score`] reads a text that is already there, and [`repetition`] tells when one goes
//! round in circles.

mod batch;
mod batched;
mod beam;
mod cached;
mod naive;
mod repetition;
mod run;
mod score;
mod streaming;
pub(crate) mod text_buffer;
mod token_output;

use std::ops::ControlFlow;

use serde::Serialize;

use crate::error::Result;
use crate::model::Model;
use crate::pretrained::Pretrained;
use crate::sampling::{SamplingParams, TokenLogprobs};
use crate::tokenizer::IncrementalDecoder;
pub use batch::{Batch, Event, SequenceId};
pub use batched::batched;
pub use beam::{BeamOptions, Hypothesis, beam};
pub use cached::cached;
pub use naive::naive;
pub use repetition::{Repetition, repetition};
pub use score::{Score, score};
pub use token_output::TokenOutput;

/// What to generate.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// How many tokens at most.
    pub max_tokens: usize,
    /// How each is chosen.
    pub sampling: SamplingParams,
    /// Go on after an end-of-sequence token, which is then kept like any other.
    pub ignore_eos: bool,
    /// Report the log-probability of each token, and of this many of the most likely ones.
    pub logprobs: Option<usize>,
    /// Tokens that end the text as an end-of-sequence token does, whatever `ignore_eos` says.
    pub stop_ids: Vec<u32>,
}

/// A token, as soon as it is chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Token<'a> {
    /// Its place among the generated tokens, from 0.
    pub index: usize,
    /// Its id.
    pub id: u32,
    /// What the model said before any rule, `[vocab]`.
    pub logits: &'a [f32],
    /// Its log-probability, where [`Options::logprobs`] asked for it.
    pub logprobs: Option<&'a TokenLogprobs>,
}

/// All that was generated.
#[derive(Debug, Clone, PartialEq)]
pub struct Generation {
    /// The new tokens, without the prompt and without the token that ended them.
    pub ids: Vec<u32>,
    /// One for each of `ids`, where [`Options::logprobs`] asked for it.
    pub logprobs: Vec<TokenLogprobs>,
    /// Why it ended.
    pub finish_reason: FinishReason,
    /// The memory that the KV cache took.
    pub kv_cache_bytes: usize,
}

/// Why a generation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model chose an end-of-sequence token.
    Eos,
    /// The model chose one of [`Options::stop_ids`].
    StopId(u32),
    /// As many tokens as were asked for.
    Length,
    /// Prompt and output fill the context.
    Context,
    /// The caller asked to stop.
    Stopped,
}

/// Either loop: [`naive`] or [`cached`].
pub type Loop = fn(
    &Model,
    &[u32],
    &Options,
    &mut dyn FnMut(&Token<'_>) -> ControlFlow<()>,
) -> Result<Generation>;

// ANCHOR: stream_text
/// Runs `generate` and hands its text to `on_text` piece by piece, each whole UTF-8, as soon
/// as it is known.
///
/// # Errors
/// Those of the loop, and of the tokenizer.
pub fn stream_text(
    generate: Loop,
    pretrained: &Pretrained,
    prompt: &[u32],
    options: &Options,
    mut on_text: impl FnMut(&str) -> ControlFlow<()>,
) -> Result<Generation> {
    let mut decoder = IncrementalDecoder::after(&pretrained.tokenizer, prompt);
    let mut failure = None;
    let generation =
        generate(&pretrained.model, prompt, options, &mut |token| match decoder.push(token.id) {
            Ok(text) => on_text(&text),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        })?;
    if let Some(error) = failure {
        return Err(error);
    }
    let rest = decoder.finish()?;
    if !rest.is_empty() {
        // There is nothing left to stop.
        let _ = on_text(&rest);
    }
    Ok(generation)
}
// ANCHOR_END: stream_text
