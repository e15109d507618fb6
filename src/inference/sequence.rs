//! A sequence in the model thread.

use std::mem;
use std::sync::Arc;
use std::time::Instant;

use super::job::RunningJob;
use super::permits::Permit;
use super::text_buffer::TextBuffer;
use super::{Completion, FinishReason, Prefill, PreparedSequence, Timings, Usage};
use crate::engine::SequenceId;
use crate::error::Result;
use crate::generate::{Batch, Generation, TokenOutput};
use crate::panics;
use crate::sampling::TokenLogprobs;
use crate::tokenizer::Tokenizer;

pub(super) struct LiveSequence<'m> {
    pub(super) id: SequenceId,
    pub(super) job: Arc<RunningJob>,
    /// Its index within its job.
    index: usize,
    text: TextBuffer<'m>,
    /// What its handler asked for, without the prompt, which the batch has.
    pub(super) prepared: PreparedSequence,
    prompt_tokens: usize,
    tokens: usize,
    /// How many of them were draft tokens.
    accepted: usize,
    /// The sequence's slot in the queue, until it is admitted.
    permit: Option<Permit>,
    admitted: Option<Instant>,
    first_token: Option<Instant>,
    last_token: Option<Instant>,
}

impl<'m> LiveSequence<'m> {
    /// Adds a sequence to the batch, where it waits to be admitted.
    ///
    /// # Errors
    /// A sequence that the KV caches could never hold.
    pub(super) fn join(
        (mut prepared, permit): (PreparedSequence, Permit),
        job: Arc<RunningJob>,
        index: usize,
        batch: &mut Batch<'m>,
        tokenizer: &'m Tokenizer,
        chunk: usize,
    ) -> Result<Self> {
        let prompt = mem::take(&mut prepared.prompt);
        prepared.options.chunk = chunk;
        let id = batch.join(&prompt, &prepared.options)?;
        job.may_generate(batch.scheduler().max_length(id) - prompt.len());
        Ok(Self {
            id,
            job,
            index,
            text: TextBuffer::new(tokenizer, &prompt, &prepared.stop),
            prepared,
            prompt_tokens: prompt.len(),
            tokens: 0,
            accepted: 0,
            permit: Some(permit),
            admitted: None,
            first_token: None,
            last_token: None,
        })
    }

    /// Notes that the sequence was admitted, which frees its slot in the queue.
    pub(super) fn admit(&mut self, now: Instant) {
        self.permit = None;
        self.admitted.get_or_insert(now);
        self.job.start(now);
    }

    /// Takes one more token, without its text. Returns the reason to finish, if there is one.
    /// `prefill` is what the batch knows of the prompt: how many of its tokens were cached, and their
    /// scores. `was_drafted` says whether it was a draft token.
    ///
    /// # Errors
    /// An id that cannot be decoded; a callback that panics.
    pub(super) fn push(
        &mut self,
        output: TokenOutput,
        was_drafted: bool,
        prefill: (usize, &[TokenLogprobs]),
    ) -> Result<Option<FinishReason>> {
        let now = Instant::now();
        self.first_token.get_or_insert(now);
        self.last_token = Some(now);
        self.tokens += 1;
        self.accepted += usize::from(was_drafted);
        let settled = panics::contain("the tokenizer", || self.text.push(output)).flatten()?;
        if let Some(on_prefill) = self.prepared.on_prefill.take() {
            let (cached_tokens, prompt_logprobs) = prefill;
            on_prefill.tell(&Prefill {
                prompt_tokens: self.prompt_tokens,
                cached_tokens,
                prompt_logprobs: prompt_logprobs.to_vec(),
            })?;
        }
        let flow = self.prepared.on_token.emit(settled)?;
        self.job.count_token(now)?;
        if let Some(string) = self.text.stopped_by() {
            return Ok(Some(FinishReason::StopString(string.to_owned())));
        }
        Ok(flow.is_break().then_some(FinishReason::Stopped))
    }

    /// Ends the sequence, which has left the batch with this: emits the text held back, and reports
    /// the completion to the job.
    pub(super) fn end(mut self, generation: Generation) {
        let Generation { prompt_logprobs, cached_tokens, preemptions, drafted, .. } = generation;
        let reason = generation.finish_reason;
        // Freed before the completion, so that a caller that sees it can use the slot.
        self.permit = None;
        let timings = self.timings();
        let usage = Usage {
            prompt_tokens: self.prompt_tokens,
            completion_tokens: self.tokens,
            cached_tokens,
            drafted_tokens: drafted,
            // What a stop string cuts off does not count.
            accepted_tokens: self.accepted,
        };
        let rest = panics::contain("the tokenizer", || self.text.finish()).flatten();
        let rest = rest.and_then(|(held, stopped_by)| {
            if reason != FinishReason::Stopped {
                // A break no longer matters: the sequence has ended.
                let _ = self.prepared.on_token.emit(held)?;
            }
            Ok(stopped_by)
        });
        match rest {
            Ok(stopped_by) => {
                let finish_reason = stopped_by.map_or(reason, FinishReason::StopString);
                let completion =
                    Completion { finish_reason, usage, prompt_logprobs, preemptions, timings };
                let on_end = self.prepared.on_end.filter(|_| !self.job.has_failed());
                let told = on_end.map_or(Ok(()), |on_end| on_end.tell(&completion));
                match told {
                    Ok(()) => self.job.complete(self.index, completion),
                    Err(error) => self.job.fail(error),
                }
            }
            Err(error) => self.job.fail(error),
        }
    }

    fn timings(&self) -> Timings {
        let since = |instant: Instant| instant - self.job.submitted;
        let gaps = u32::try_from(self.tokens.saturating_sub(1)).unwrap_or(u32::MAX);
        let span = self.first_token.zip(self.last_token).map(|(first, last)| last - first);
        Timings {
            queue: self.admitted.map_or_else(|| self.job.submitted.elapsed(), since),
            ttft: self.first_token.map(since),
            tpot: span.and_then(|span| span.checked_div(gaps)),
            total: self.job.submitted.elapsed(),
        }
    }
}
