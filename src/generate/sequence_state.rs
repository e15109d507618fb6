//! The part of a step that all loops share: sampling, output and stopping.

use std::ops::ControlFlow;

use sha2::{Digest, Sha256};

use super::score::score_rows;
use super::token_limit::TokenLimit;
use super::{Chosen, FinishReason, Generation, Options, TokenOutput};
use crate::error::{Error, Result};
use crate::model::Model;
use crate::sampling::{Sampler, TokenLogprobs, logprobs};

/// One generation in progress: samples tokens, keeps them, and decides when to stop.
pub(super) struct SequenceState {
    prompt: Vec<u32>,
    sampler: Sampler,
    ids: Vec<u32>,
    logprobs: Vec<TokenLogprobs>,
    prompt_logprobs: Vec<TokenLogprobs>,
    limit: TokenLimit,
    finish_reason: Option<FinishReason>,
    end_ids: Vec<u32>,
    stop_ids: Vec<u32>,
    /// For how many of the most likely tokens to report log-probabilities.
    top: Option<usize>,
    /// The same for the tokens of the prompt.
    prompt_top: Option<usize>,
    /// The hash of all logits so far, if requested.
    hash: Option<Sha256>,
}

impl SequenceState {
    /// For a loop that has one sequence. Checks the prompt and the parameters before anything is
    /// computed.
    pub(super) fn new(model: &Model, prompt: &[u32], options: &Options) -> Result<Self> {
        if let Some(top) = options.prompt_logprobs {
            return Err(Error::Parameter {
                name: "prompt_logprobs",
                value: top.to_string(),
                allowed: "left out of a loop for one sequence: call `generate::score`, or join a `Batch`",
            });
        }
        Self::with_sampler(model, prompt, options, Sampler::new(&options.sampling)?)
    }

    /// For a batch, and with `sampler` instead of `options.sampling`.
    pub(super) fn with_sampler(
        model: &Model,
        prompt: &[u32],
        options: &Options,
        sampler: Sampler,
    ) -> Result<Self> {
        let limit = TokenLimit::new(model, prompt, options.max_tokens)?;
        sampler.params().check_vocabulary(model.config().vocab_size)?;
        let end_ids = if options.ignore_eos {
            Vec::new()
        } else {
            model.config().eos_token_ids.clone()
        };
        Ok(Self {
            prompt: prompt.to_vec(),
            sampler,
            ids: Vec::new(),
            logprobs: Vec::new(),
            prompt_logprobs: Vec::new(),
            limit,
            finish_reason: (limit.left == 0 && options.prompt_logprobs.is_none())
                .then(|| limit.reason()),
            end_ids,
            stop_ids: options.stop_ids.clone(),
            top: options.logprobs,
            prompt_top: options.prompt_logprobs,
            hash: options.hash_logits.then(Sha256::new),
        })
    }

    /// The number of tokens that are left to generate.
    pub(super) fn tokens_left(&self) -> usize {
        self.limit.left
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finish_reason.is_some()
    }

    /// Takes the rows of logits, `[vocab]` each, of the next prompt tokens.
    pub(super) fn score_prompt(&mut self, rows: &[Vec<f32>]) -> Result<()> {
        let targets = &self.prompt[1 + self.prompt_logprobs.len()..];
        let top = self.prompt_top.unwrap_or(0);
        score_rows(rows, targets, top, &mut self.prompt_logprobs)
    }

    /// The scores of the prompt so far.
    pub(super) fn prompt_logprobs(&self) -> &[TokenLogprobs] {
        &self.prompt_logprobs
    }

    /// Ends a sequence that was to generate nothing, now that its prompt is read.
    pub(super) fn finish_without_tokens(&mut self) {
        self.finish_reason = Some(self.limit.reason());
    }

    // ANCHOR: next_token
    /// Samples the next token from the logits, `[vocab]`, and decides whether it is the last.
    pub(super) fn next_token(
        &mut self,
        logits: &[f32],
        on_token: &mut dyn FnMut(&Chosen<'_>) -> ControlFlow<()>,
    ) -> Result<u32> {
        if let Some(hash) = &mut self.hash {
            logits.iter().for_each(|logit| hash.update(logit.to_le_bytes()));
        }
        let index = self.ids.len();
        let id = self.sampler.sample(logits, &self.prompt, &self.ids)?;
        if let Some(reason) = self.end(id) {
            self.finish_reason = Some(reason);
            return Ok(id);
        }
        self.ids.push(id);
        self.limit.left -= 1;
        if self.limit.left == 0 {
            self.finish_reason = Some(self.limit.reason());
        }
        let logprobs = self.top.map(|top| logprobs(logits, id, top));
        let token = TokenOutput::without_text(index, id, logprobs.clone());
        self.logprobs.extend(logprobs);
        if on_token(&Chosen { token: &token, logits }).is_break() {
            self.finish_reason = Some(FinishReason::Stopped);
        }
        Ok(id)
    }
    // ANCHOR_END: next_token

    // ANCHOR: end
    /// Why this token ends the text, if it does. Such a token is not part of the text.
    fn end(&self, id: u32) -> Option<FinishReason> {
        if self.stop_ids.contains(&id) {
            return Some(FinishReason::StopId(id));
        }
        self.end_ids.contains(&id).then_some(FinishReason::Eos)
    }
    // ANCHOR_END: end

    /// The result. A sequence that is not finished was stopped.
    pub(super) fn into_generation(self, kv_cache_bytes: usize) -> Generation {
        Generation {
            ids: self.ids,
            logprobs: self.logprobs,
            prompt_logprobs: self.prompt_logprobs,
            finish_reason: self.finish_reason.unwrap_or(FinishReason::Stopped),
            kv_cache_bytes,
            cached_tokens: 0,
            preemptions: 0,
            logits_hash: self.hash.map(|hash| format!("{:x}", hash.finalize())),
        }
    }
}
