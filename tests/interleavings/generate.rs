//! The running batch, with what it needs of the other loops.

#[path = "../../src/generate/batch.rs"]
mod batch;
#[path = "../../src/generate/finish_reason.rs"]
mod finish_reason;
mod score;
#[path = "../../src/generate/sequence_state.rs"]
mod sequence_state;
#[path = "../../src/generate/text_buffer.rs"]
pub(crate) mod text_buffer;
#[path = "../../src/generate/token_limit.rs"]
pub(crate) mod token_limit;
#[path = "../../src/generate/token_output.rs"]
mod token_output;

use std::ops::ControlFlow;

use crate::constrained::Constraint;
use crate::error::Result;
use crate::model::Model;
use crate::sampling::{SamplingParams, TokenLogprobs};
pub use batch::{Batch, Event};
pub use finish_reason::FinishReason;
pub use token_output::TokenOutput;

#[derive(Debug, Clone)]
pub struct Options {
    pub max_tokens: usize,
    pub chunk: usize,
    pub sampling: SamplingParams,
    pub ignore_eos: bool,
    pub constraint: Option<Constraint>,
    pub logprobs: Option<usize>,
    pub prompt_logprobs: Option<usize>,
    pub stop_ids: Vec<u32>,
    pub hash_logits: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_tokens: 256,
            chunk: 256,
            sampling: SamplingParams::default(),
            ignore_eos: false,
            constraint: None,
            logprobs: None,
            prompt_logprobs: None,
            stop_ids: Vec::new(),
            hash_logits: false,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Chosen<'a> {
    pub token: &'a TokenOutput,
    pub logits: &'a [f32],
}

#[derive(Debug, Clone, PartialEq)]
pub struct Generation {
    pub ids: Vec<u32>,
    pub logprobs: Vec<TokenLogprobs>,
    pub prompt_logprobs: Vec<TokenLogprobs>,
    pub finish_reason: FinishReason,
    pub kv_cache_bytes: usize,
    pub cached_tokens: usize,
    pub preemptions: usize,
    pub drafted: usize,
    pub accepted: usize,
    pub logits_hash: Option<String>,
}

/// The loop of one sequence, which `inference` warms up with.
pub(crate) fn cached(
    model: &Model,
    prompt: &[u32],
    options: &Options,
    on_token: &mut dyn FnMut(&Chosen<'_>) -> ControlFlow<()>,
) -> Result<Generation> {
    let mut state = sequence_state::SequenceState::new(model, prompt, options)?;
    while !state.is_finished() {
        state.next_token(&model.logits(), on_token)?;
    }
    Ok(state.into_generation(0))
}
