//! What every loop does at a step besides running the model.

use std::ops::ControlFlow;

use super::{FinishReason, Generation, Options, Token};
use crate::error::Result;
use crate::model::Model;
use crate::sampling::{Sampler, TokenLogprobs, logprobs};

/// One generation in progress: chooses tokens, keeps them, and knows when to stop.
pub(super) struct Run {
    prompt: Vec<u32>,
    sampler: Sampler,
    ids: Vec<u32>,
    logprobs: Vec<TokenLogprobs>,
    /// How many more tokens may come, and why no more than that.
    room: usize,
    when_full: FinishReason,
    finish_reason: Option<FinishReason>,
    end_ids: Vec<u32>,
    stop_ids: Vec<u32>,
    /// For how many of the most likely tokens to report log-probabilities.
    top: Option<usize>,
}

impl Run {
    /// Checks the prompt and the parameters before anything is computed.
    pub(super) fn new(model: &Model, prompt: &[u32], options: &Options) -> Result<Self> {
        Self::with_sampler(model, prompt, options, Sampler::new(&options.sampling)?)
    }

    /// As [`new`](Self::new), but `sampler` takes the place of `options.sampling`.
    pub(super) fn with_sampler(
        model: &Model,
        prompt: &[u32],
        options: &Options,
        sampler: Sampler,
    ) -> Result<Self> {
        // ANCHOR: room
        model.check_prompt(prompt)?;
        let left = model.config().context_length - prompt.len();
        let (room, when_full) = match options.max_tokens <= left {
            true => (options.max_tokens, FinishReason::Length),
            false => (left, FinishReason::Context),
        };
        // ANCHOR_END: room
        let end_ids = match options.ignore_eos {
            true => Vec::new(),
            false => model.config().eos_token_ids.clone(),
        };
        Ok(Self {
            prompt: prompt.to_vec(),
            sampler,
            ids: Vec::new(),
            logprobs: Vec::new(),
            room,
            when_full,
            finish_reason: (room == 0).then_some(when_full),
            end_ids,
            stop_ids: options.stop_ids.clone(),
            top: options.logprobs,
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
    pub(super) fn next_token(
        &mut self,
        logits: &[f32],
        on_token: &mut dyn FnMut(&Token<'_>) -> ControlFlow<()>,
    ) -> Result<u32> {
        let index = self.ids.len();
        let id = self.sampler.sample(logits, &self.prompt, &self.ids)?;
        if let Some(reason) = self.end(id) {
            self.finish_reason = Some(reason);
            return Ok(id);
        }
        self.ids.push(id);
        self.room -= 1;
        if let Some(n) = self.top {
            self.logprobs.push(logprobs(logits, id, n));
        }
        if self.room == 0 {
            self.finish_reason = Some(self.when_full);
        }
        let logprobs = self.logprobs.last();
        if on_token(&Token { index, id, logits, logprobs }).is_break() {
            self.finish_reason = Some(FinishReason::Stopped);
        }
        Ok(id)
    }
    // ANCHOR_END: next_token

    // ANCHOR: end
    /// Why this token ends the text, if it does. It is not a part of it.
    fn end(&self, id: u32) -> Option<FinishReason> {
        if self.stop_ids.contains(&id) {
            return Some(FinishReason::StopId(id));
        }
        self.end_ids.contains(&id).then_some(FinishReason::Eos)
    }
    // ANCHOR_END: end

    /// What was generated. A run that is not finished was stopped.
    pub(super) fn into_generation(self, kv_cache_bytes: usize) -> Generation {
        Generation {
            ids: self.ids,
            logprobs: self.logprobs,
            finish_reason: self.finish_reason.unwrap_or(FinishReason::Stopped),
            kv_cache_bytes,
        }
    }
}
