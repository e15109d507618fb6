//! What every loop does at a step besides running the model.

use std::ops::ControlFlow;

use super::{FinishReason, Generation, Options, Token};
use crate::error::Result;
use crate::model::Model;
use crate::sampling::{Sampler, TokenLogprobs, logprobs};

/// One generation in progress: chooses tokens, keeps them, and knows when to stop.
pub(super) struct Run<'a> {
    prompt: &'a [u32],
    sampler: Sampler,
    ids: Vec<u32>,
    logprobs: Vec<TokenLogprobs>,
    /// How many more tokens may come, and why no more than that.
    room: usize,
    when_full: FinishReason,
    finish_reason: Option<FinishReason>,
    end_ids: &'a [u32],
    options: &'a Options,
    on_token: &'a mut dyn FnMut(&Token<'_>) -> ControlFlow<()>,
}

impl<'a> Run<'a> {
    /// Checks the prompt and the parameters before anything is computed.
    pub(super) fn new(
        model: &'a Model,
        prompt: &'a [u32],
        options: &'a Options,
        on_token: &'a mut dyn FnMut(&Token<'_>) -> ControlFlow<()>,
    ) -> Result<Self> {
        model.check_prompt(prompt)?;
        let left = model.config().context_length - prompt.len();
        let (room, when_full) = match options.max_tokens <= left {
            true => (options.max_tokens, FinishReason::Length),
            false => (left, FinishReason::Context),
        };
        let end_ids = match options.ignore_eos {
            true => &[],
            false => model.config().eos_token_ids.as_slice(),
        };
        Ok(Self {
            prompt,
            sampler: Sampler::new(&options.sampling)?,
            ids: Vec::new(),
            logprobs: Vec::new(),
            room,
            when_full,
            finish_reason: (room == 0).then_some(when_full),
            end_ids,
            options,
            on_token,
        })
    }

    /// How many more tokens may come.
    pub(super) fn room(&self) -> usize {
        self.room
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finish_reason.is_some()
    }

    // ANCHOR: next_token
    /// Chooses the token that follows, from the logits `[vocab]`, and decides whether it is
    /// the last.
    pub(super) fn next_token(&mut self, logits: &[f32]) -> Result<u32> {
        let index = self.ids.len();
        let id = self.sampler.sample(logits, self.prompt, &self.ids)?;
        if self.end_ids.contains(&id) {
            self.finish_reason = Some(FinishReason::Eos);
            return Ok(id);
        }
        self.ids.push(id);
        self.room -= 1;
        if let Some(n) = self.options.logprobs {
            self.logprobs.push(logprobs(logits, id, n));
        }
        if self.room == 0 {
            self.finish_reason = Some(self.when_full);
        }
        if (self.on_token)(&Token { index, id, logits }).is_break() {
            self.finish_reason = Some(FinishReason::Stopped);
        }
        Ok(id)
    }
    // ANCHOR_END: next_token

    pub(super) fn into_generation(self, kv_cache_bytes: usize) -> Generation {
        Generation {
            ids: self.ids,
            logprobs: self.logprobs,
            finish_reason: self.finish_reason.unwrap_or(self.when_full),
            kv_cache_bytes,
        }
    }
}
