//! One sequence in the model thread, from the queue to its end.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use super::accessor::{OnToken, Start};
use super::job::RunningJob;
use super::{Completion, FinishReason, Timings, Usage};
use crate::error::{Error, Result};
use crate::generate::text_buffer::TextBuffer;
use crate::generate::{Batch, SequenceId, TokenOutput};
use crate::panics;
use crate::tokenizer::Tokenizer;

/// A sequence that waits for its turn.
pub(super) struct Waiting {
    pub(super) job: Arc<RunningJob>,
    /// Its place among the sequences of its job.
    pub(super) place: usize,
    pub(super) start: Start,
}

impl Waiting {
    /// Why it must not be started any more.
    pub(super) fn over(&self, now: Instant) -> Option<FinishReason> {
        over(&self.job, self.start.deadline, now)
    }

    /// Ends it before it began.
    pub(super) fn end(self, reason: FinishReason) {
        let waited = self.job.submitted.elapsed();
        let timings = Timings { queue: waited, ttft: None, tpot: None, total: waited };
        let usage = Usage { prompt_tokens: self.start.prompt.len(), completion_tokens: 0 };
        self.job.complete(self.place, Completion { finish_reason: reason, usage, timings });
    }

    /// Lets it join the batch. Where that is refused, its job has failed.
    pub(super) fn join<'m>(
        self,
        batch: &mut Batch<'m>,
        tokenizer: &'m Tokenizer,
    ) -> Option<Sequence<'m>> {
        let Waiting { job, place, start } = self;
        let Start { prompt, options, sampler, stop, deadline, on_token, .. } = start;
        // A device that runs out of memory panics.
        let joined =
            panics::contain("the model", || batch.join_with_sampler(&prompt, &options, sampler));
        let id = match joined.flatten() {
            Ok(id) => id,
            Err(error) => {
                job.fail(error);
                return None;
            }
        };
        let joined = Instant::now();
        job.start(joined);
        Some(Sequence {
            id,
            job,
            place,
            text: TextBuffer::new(tokenizer, &prompt, &stop),
            deadline,
            on_token,
            prompt_tokens: prompt.len(),
            tokens: 0,
            joined,
            first_token: None,
            last_token: None,
        })
    }
}

/// A sequence in the batch.
pub(super) struct Sequence<'m> {
    pub(super) id: SequenceId,
    pub(super) job: Arc<RunningJob>,
    place: usize,
    text: TextBuffer<'m>,
    deadline: Option<Instant>,
    on_token: OnToken,
    prompt_tokens: usize,
    tokens: usize,
    joined: Instant,
    first_token: Option<Instant>,
    last_token: Option<Instant>,
}

impl Sequence<'_> {
    /// When it must end.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Why it must not go on.
    pub(super) fn over(&self, now: Instant) -> Option<FinishReason> {
        over(&self.job, self.deadline, now)
    }

    // ANCHOR: push
    /// Takes one more token, without its text. Returns why it was the last, if it was.
    ///
    /// # Errors
    /// An id that cannot be decoded; a callback that panics.
    pub(super) fn push(&mut self, output: TokenOutput) -> Result<Option<FinishReason>> {
        let now = Instant::now();
        self.first_token.get_or_insert(now);
        self.last_token = Some(now);
        self.tokens += 1;
        let settled = self.text.push(output)?;
        let flow = emit(&mut self.on_token, settled)?;
        self.job.count_token(now)?;
        if let Some(string) = self.text.stopped_by() {
            return Ok(Some(FinishReason::StopString(string.to_owned())));
        }
        Ok(flow.is_break().then_some(FinishReason::Stopped))
    }
    // ANCHOR_END: push

    /// Ends it: hands over what text was held back, and tells its job.
    pub(super) fn end(mut self, reason: FinishReason) {
        let timings = self.timings();
        let usage = Usage {
            prompt_tokens: self.prompt_tokens,
            completion_tokens: self.tokens,
        };
        let rest = self.text.finish().and_then(|(held, stopped_by)| {
            if reason != FinishReason::Stopped {
                // There is nothing left to stop.
                let _ = emit(&mut self.on_token, held)?;
            }
            Ok(stopped_by)
        });
        match rest {
            Ok(stopped_by) => {
                let finish_reason = stopped_by.map_or(reason, FinishReason::StopString);
                self.job.complete(self.place, Completion { finish_reason, usage, timings });
            }
            Err(error) => self.job.fail(error),
        }
    }

    /// Ends it, and its job, with an error.
    pub(super) fn fail(self, error: Error) {
        self.job.fail(error);
    }

    // ANCHOR: timings
    fn timings(&self) -> Timings {
        let since = |instant: Instant| instant - self.job.submitted;
        let gaps = u32::try_from(self.tokens.saturating_sub(1)).unwrap_or(u32::MAX);
        let span = self.first_token.zip(self.last_token).map(|(first, last)| last - first);
        Timings {
            queue: since(self.joined),
            ttft: self.first_token.map(since),
            tpot: span.and_then(|span| span.checked_div(gaps)),
            total: self.job.submitted.elapsed(),
        }
    }
    // ANCHOR_END: timings
}

fn over(job: &RunningJob, deadline: Option<Instant>, now: Instant) -> Option<FinishReason> {
    // Ended: another sequence of the same job has failed.
    if job.cancel.is_cancelled() || job.has_ended() {
        return Some(FinishReason::Cancelled);
    }
    deadline.is_some_and(|deadline| deadline <= now).then_some(FinishReason::Deadline)
}

/// Hands tokens to the handler's callback until it breaks.
fn emit(on_token: &mut OnToken, outputs: Vec<TokenOutput>) -> Result<ControlFlow<()>> {
    panics::contain("the handler's callback", || outputs.into_iter().try_for_each(on_token))
}
