//! The part of a step that all loops share: sampling, output and stopping.

use std::ops::ControlFlow;

use sha2::{Digest, Sha256};

use super::score::score_rows;
use super::{Chosen, FinishReason, Generation, Options, TokenOutput};
use crate::constrained::{Cancel, ConstraintId, Follower};
use crate::error::{DeviceError, Error, RequestError, Result};
use crate::model::{Model, MostLikely};
use crate::sampling::{Sampler, TokenLogprobs, logprobs};
use crate::speculation::{Text, residual};

/// The number of tokens that are left to generate, and the reason for the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TokenLimit {
    pub(super) left: usize,
    /// Whether the context length sets the limit, not the request.
    is_context: bool,
}

impl TokenLimit {
    /// The limit of a generation of up to `max_tokens` after `prompt`, within the context length.
    ///
    /// # Errors
    /// A prompt that [`Model::check_prompt`] rejects.
    pub(super) fn new(model: &Model, prompt: &[u32], max_tokens: usize) -> Result<Self> {
        model.check_prompt(prompt)?;
        let context = model.config().context_length - prompt.len();
        Ok(Self {
            left: max_tokens.min(context),
            is_context: context < max_tokens,
        })
    }

    /// The finish reason of a generation that reached the limit.
    pub(super) fn reason(&self) -> FinishReason {
        if self.is_context {
            FinishReason::Context
        } else {
            FinishReason::Length
        }
    }
}

/// One generation in progress: samples tokens, keeps them, and decides when to stop.
pub(super) struct SequenceState {
    /// The prompt, and behind it the generated tokens.
    tokens: Vec<u32>,
    /// How many of them are the prompt.
    prompt: usize,
    pub(super) sampler: Sampler,
    logprobs: Vec<TokenLogprobs>,
    pub(super) prompt_logprobs: Vec<TokenLogprobs>,
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
    /// The hashes before each row of the last check.
    hashes: Vec<Sha256>,
    /// The sampler of residual sampling, with numbers that no draft can know.
    residual: Option<Sampler>,
    last_check: LastCheck,
    /// Why nothing can be sampled from the next row.
    failure: Option<Error>,
    drafted: usize,
    accepted: usize,
}

/// The stream of the numbers of residual sampling.
const RESIDUAL_STREAM: u64 = 1;

/// What there was before the last check, and how many rows it sampled from.
#[derive(Default)]
struct LastCheck {
    /// The generated tokens.
    tokens: usize,
    accepted: usize,
    rows: usize,
}

impl SequenceState {
    /// For a loop that has one sequence. Checks the prompt and the parameters before anything is
    /// computed.
    pub(super) fn new(model: &Model, prompt: &[u32], options: &Options) -> Result<Self> {
        if let Some(top) = options.prompt_logprobs {
            return Err(RequestError::Parameter {
                name: "prompt_logprobs",
                value: top.to_string(),
                allowed: "left out of a loop for one sequence: call `generate::score`, or join a `Batch`",
            }.into());
        }
        Self::in_batch(model, prompt, options)
    }

    /// As [`new`](Self::new), for a batch.
    pub(super) fn in_batch(model: &Model, prompt: &[u32], options: &Options) -> Result<Self> {
        let mut sampler = Sampler::new(&options.sampling)?;
        let limit = TokenLimit::new(model, prompt, options.max_tokens)?;
        let vocab_size = model.config().vocab_size;
        options.sampling.check_vocabulary(vocab_size)?;
        if let Some(constraint) = &options.constraint {
            constraint.check_vocabulary(vocab_size)?;
            sampler = sampler.with_constraint(constraint);
        }
        if let Some(reasoning) = &options.reasoning {
            reasoning.check_vocabulary(vocab_size)?;
            sampler = sampler.with_reasoning(reasoning);
        }
        let end_ids = if options.ignore_eos {
            Vec::new()
        } else {
            model.config().eos_token_ids.clone()
        };
        Ok(Self {
            tokens: prompt.to_vec(),
            prompt: prompt.len(),
            sampler: options.rules.0.iter().cloned().fold(sampler, Sampler::with_rule),
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
            hashes: Vec::new(),
            residual: None,
            last_check: LastCheck::default(),
            failure: None,
            drafted: 0,
            accepted: 0,
        })
    }

    /// The text so far, as a draft sees it.
    pub(super) fn text(&self) -> Text<'_> {
        Text {
            tokens: &self.tokens,
            prompt: self.prompt,
            sampler: &self.sampler,
        }
    }

    /// The number of tokens that are left to generate.
    pub(super) fn tokens_left(&self) -> usize {
        self.limit.left
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finish_reason.is_some()
    }

    /// Whether of the logits of the next token only the most likely token is wanted.
    pub(super) fn wants_token_only(&self) -> bool {
        let is_asked_for_more = self.top.is_some() || self.prompt_top.is_some();
        self.sampler.takes_most_likely() && self.hash.is_none() && !is_asked_for_more
    }

    /// The constraint whose masks are found aside: not where rules of the caller's own are asked, too.
    pub(super) fn constraint_aside(&self) -> Option<ConstraintId> {
        let follower = self.sampler.constraint().filter(|_| !self.sampler.has_rules())?;
        Some(follower.constraint().id())
    }

    /// Gives up what another thread does under the constraint.
    pub(super) fn canceller(&self) -> Cancel {
        self.sampler.constraint().map(Follower::canceller).unwrap_or_default()
    }

    /// Finds out which tokens the constraint forces next, `most` at most, so that it is known when they are
    /// asked for.
    pub(super) fn look_ahead(&self, most: usize) {
        // An error ends the text when it gets there.
        let _ = self.sampler.forced(&self.tokens[self.prompt..], most.min(self.limit.left));
    }

    /// As [`next_token`](Self::next_token), where the most likely token is known. The logits that
    /// `on_token` gets are empty.
    pub(super) fn take_greedy(
        &mut self,
        token: MostLikely,
        on_token: &mut dyn FnMut(&Chosen<'_>) -> ControlFlow<()>,
    ) -> Result<u32> {
        let (step, accepted) = (self.tokens.len() - self.prompt, self.accepted);
        let token = token.map_err(|problem| DeviceError::Logits { step, problem })?;
        self.last_check = LastCheck { tokens: step, accepted, rows: 1 };
        self.push(token, &[], on_token)
    }

    /// Takes the rows of logits, `[vocab]` each, of the next prompt tokens.
    pub(super) fn score_prompt(&mut self, rows: &[Vec<f32>]) -> Result<()> {
        let targets = &self.tokens[1 + self.prompt_logprobs.len()..self.prompt];
        let top = self.prompt_top.unwrap_or(0);
        score_rows(rows, targets, top, &mut self.prompt_logprobs)
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
        let (prompt, output) = self.tokens.split_at(self.prompt);
        let id = self.sampler.sample(logits, prompt, output)?;
        self.push(id, logits, on_token)
    }
    // ANCHOR_END: next_token

    /// Appends the token that was sampled from the logits, `[vocab]`, unless it ends the text.
    fn push(
        &mut self,
        id: u32,
        logits: &[f32],
        on_token: &mut dyn FnMut(&Chosen<'_>) -> ControlFlow<()>,
    ) -> Result<u32> {
        if let Some(hash) = &mut self.hash {
            logits.iter().for_each(|logit| hash.update(logit.to_le_bytes()));
        }
        let output = &self.tokens[self.prompt..];
        let index = output.len();
        if let Some(reason) = self.end(id) {
            self.finish_reason = Some(reason);
            return Ok(id);
        }
        let logprobs = match self.top {
            None => None,
            Some(top) => Some(logprobs(&self.sampler.constrained(logits, output)?, id, top)),
        };
        self.tokens.push(id);
        let is_complete = self.is_complete();
        if is_complete.is_err() {
            self.tokens.pop();
        }
        let is_complete = is_complete?;
        self.limit.left -= 1;
        if self.limit.left == 0 {
            self.finish_reason = Some(self.limit.reason());
        }
        if is_complete {
            self.finish_reason = Some(FinishReason::Eos);
        }
        let token = TokenOutput::without_text(index, id, logprobs.clone());
        self.logprobs.extend(logprobs);
        if on_token(&Chosen { token: &token, logits }).is_break() {
            self.finish_reason = Some(FinishReason::Stopped);
        }
        Ok(id)
    }

    /// As [`next_token`](Self::next_token), by residual sampling where there is a guess: the draft
    /// token, and the distribution that it was drawn from, `[vocab]`, unless it was certain.
    fn next_by_residual(
        &mut self,
        logits: &[f32],
        guess: Option<(u32, Option<&Vec<f32>>)>,
        on_token: &mut dyn FnMut(&Chosen<'_>) -> ControlFlow<()>,
    ) -> Result<u32> {
        let sampler = self.residual.get_or_insert_with(|| self.sampler.on_stream(RESIDUAL_STREAM));
        let (prompt, output) = self.tokens.split_at(self.prompt);
        let Some((token, draft)) = guess else {
            let id = sampler.sample(logits, prompt, output)?;
            return self.push(id, logits, on_token);
        };
        let exact = |distribution: &[f32]| distribution.iter().copied().map(f64::from).collect();
        let target: Vec<f64> = exact(&sampler.distribution(logits, prompt, output)?);
        let token = token as usize;
        let draft =
            draft.map_or_else(|| residual::certain(token, target.len()), |draft| exact(draft));
        let uniform = [sampler.uniform(), sampler.uniform()];
        let id = residual::check(&target, &draft, token, uniform) as u32;
        self.push(id, logits, on_token)
    }

    /// Whether the constraint allows no token behind the output.
    fn is_complete(&self) -> Result<bool> {
        match self.sampler.constraint() {
            None => Ok(false),
            Some(follower) => {
                let vocab_size = follower.constraint().vocabulary().size();
                let next = self.sampler.next(&self.tokens[self.prompt..], vocab_size)?;
                Ok(next.is_some_and(|next| next.is_complete()))
            }
        }
    }

    // ANCHOR: check
    /// Samples a token from each row of logits, `[vocab]`, as long as the tokens are those of the
    /// draft, and returns them. There is one row more than draft tokens. The rows behind a token that
    /// differs follow a text that is not this one. `residual` has the distributions of the draft where
    /// residual sampling decides.
    ///
    /// A row behind the first from which nothing can be sampled fails the text only if the text gets
    /// there: in the next step, unless the caller stops before.
    pub(super) fn check(
        &mut self,
        rows: &[Vec<f32>],
        draft: &[u32],
        residual: Option<&[Vec<f32>]>,
        on_token: &mut dyn FnMut(&Chosen<'_>) -> ControlFlow<()>,
    ) -> Result<Vec<u32>> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        self.drafted += draft.len();
        self.hashes.clear();
        let (tokens, accepted) = (self.tokens.len() - self.prompt, self.accepted);
        self.last_check = LastCheck { tokens, accepted, rows: 0 };
        let mut sampled = Vec::new();
        for (index, logits) in rows.iter().enumerate() {
            let before = self.hash.clone();
            let guess = draft.get(index).copied();
            let token = match residual {
                None => self.next_token(logits, on_token),
                Some(of) => {
                    let guess = guess.map(|token| (token, of.get(index)));
                    self.next_by_residual(logits, guess, on_token)
                }
            };
            let token = match token {
                Err(error) if index > 0 => {
                    self.hash = before;
                    self.fail_next(error);
                    break;
                }
                token => token?,
            };
            self.hashes.extend(before);
            sampled.push(token);
            self.last_check.rows += 1;
            let is_accepted = guess == Some(token);
            self.accepted += usize::from(is_accepted);
            if !is_accepted || self.is_finished() {
                break;
            }
        }
        Ok(sampled)
    }
    // ANCHOR_END: check

    /// The text fails in the next step, unless it ends in this one.
    pub(super) fn fail_next(&mut self, error: Error) {
        self.failure = Some(error);
    }

    /// Ends the text after its first `tokens` tokens, where the caller stops: what the last check
    /// sampled behind them never was. Has no effect at a token that has ended the text.
    pub(super) fn stop_after(&mut self, tokens: usize) {
        let rows = tokens - self.last_check.tokens;
        if rows == self.last_check.rows && self.is_finished() {
            return;
        }
        self.accepted = self.accepted.min(self.last_check.accepted + rows);
        self.finish_reason = Some(FinishReason::Stopped);
        self.tokens.truncate(self.prompt + tokens);
        self.logprobs.truncate(tokens);
        if let Some(hash) = self.hashes.get(rows) {
            self.hash = Some(hash.clone());
        }
    }

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
    pub(super) fn into_generation(mut self, kv_cache_bytes: usize) -> Generation {
        Generation {
            ids: self.tokens.split_off(self.prompt),
            logprobs: self.logprobs,
            prompt_logprobs: self.prompt_logprobs,
            finish_reason: self.finish_reason.unwrap_or(FinishReason::Stopped),
            kv_cache_bytes,
            cached_tokens: 0,
            preemptions: 0,
            drafted: self.drafted,
            accepted: self.accepted,
            logits_hash: self.hash.map(|hash| format!("{:x}", hash.finalize())),
        }
    }
}
