//! A job, from the caller's side and from the model thread's.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::Completion;
use super::callback::OnProgress;
use super::cancel::CancelToken;
use super::model_thread::check_may_wait;
use super::stream::{JobStream, Reader};
use crate::error::{Error, Result, ServiceError};
use crate::sync::{Mutex, MutexGuard};

/// A request in progress. Dropping the job cancels it, before its next step.
///
/// With the feature `async`, a task reads [`stream`](Self::stream) to its end, as a
/// `futures::Stream`, and then calls [`join_all`](Self::join_all), which no longer waits. A task that
/// is dropped in between drops the job, and so cancels it.
#[must_use = "a job that is dropped is cancelled"]
pub struct Job<O> {
    /// The items that the handler emits.
    pub stream: JobStream<O>,
}

impl<O> Job<O> {
    /// Ends the job before its next step. Items already emitted can still be read.
    pub fn cancel(&self) {
        self.stream.channel.cancel.cancel();
    }

    /// A token to cancel this job from elsewhere.
    pub fn cancel_token(&self) -> CancelToken {
        self.stream.channel.cancel.clone()
    }

    /// Waits for the job to end, and drops unread items. Once the stream has ended, so has the job:
    /// then this returns at once, whatever the model thread does. For a handler that starts several
    /// sequences, returns the completion of the first.
    ///
    /// # Errors
    /// Errors and panics of the handler or of its sequences; a call from a callback in the model
    /// thread, which would wait for itself.
    pub fn join(self) -> Result<Completion> {
        self.join_all()?.into_iter().next().ok_or(Error::Service(ServiceError::NothingStarted))
    }

    /// As [`join`](Self::join), for each sequence in the order in which the handler started
    /// them.
    ///
    /// # Errors
    /// As [`join`](Self::join): the first sequence that fails ends the others.
    pub fn join_all(self) -> Result<Vec<Completion>> {
        check_may_wait()?;
        self.stream.into_outcome()
    }
}

/// The progress of a job, summed over its sequences.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Progress {
    /// Tokens generated so far.
    pub tokens: usize,
    /// The most tokens that the job may generate; it may end earlier.
    pub max_tokens: usize,
    /// Since the job joined the batch.
    pub elapsed: Duration,
}

impl Progress {
    /// Tokens generated per second, prefill included.
    pub fn tokens_per_second(&self) -> f64 {
        self.tokens as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// An upper bound on the remaining time at the current speed.
    pub fn time_left(&self) -> Duration {
        let left = self.max_tokens.saturating_sub(self.tokens);
        let seconds = left as f64 / self.tokens_per_second();
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

/// All items and completions of a finished job.
#[derive(Debug, Clone, PartialEq)]
pub struct Collected<O> {
    /// In the order in which they were emitted.
    pub outputs: Vec<O>,
    /// One for each sequence, in the order in which the handler started them.
    pub completions: Vec<Completion>,
}

/// Identifies a job within one inference. Ids grow in the order of spawning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct JobId(pub(super) u64);

/// The state that a job's sequences share in the model thread. Dropping it ends the job, so that a
/// caller never waits for a lost job.
pub(super) struct RunningJob {
    pub(super) id: JobId,
    cancel: CancelToken,
    pub(super) submitted: Instant,
    reader: Arc<dyn Reader>,
    state: Mutex<State>,
}

struct State {
    completions: Vec<Option<Completion>>,
    on_progress: Option<OnProgress>,
    started: Option<Instant>,
    progress: Progress,
}

impl RunningJob {
    pub(super) fn new(
        id: JobId,
        cancel: CancelToken,
        reader: Arc<dyn Reader>,
        submitted: Instant,
        sequences: usize,
        on_progress: Option<OnProgress>,
    ) -> Self {
        let state = State {
            completions: vec![None; sequences],
            on_progress,
            started: None,
            progress: Progress::default(),
        };
        Self { id, cancel, submitted, reader, state: Mutex::new(state) }
    }

    /// Whether the job's stream is full, so that its sequences must pause.
    pub(super) fn is_behind(&self) -> bool {
        self.reader.is_behind()
    }

    /// Whether the job needs no further work: it was cancelled, or one of its sequences has failed.
    pub(super) fn is_over(&self) -> bool {
        self.cancel.is_cancelled() || self.reader.has_ended()
    }

    /// Whether one of the job's sequences has failed. Asked while another one has not ended: the last
    /// completion ends the job too.
    pub(super) fn has_failed(&self) -> bool {
        self.reader.has_ended()
    }

    /// Counts the tokens that one of the job's sequences may generate.
    pub(super) fn may_generate(&self, tokens: usize) {
        self.lock().progress.max_tokens += tokens;
    }

    /// Records that one of the job's sequences has joined the batch.
    pub(super) fn start(&self, now: Instant) {
        self.lock().started.get_or_insert(now);
    }

    /// Counts one token of one of the job's sequences, and reports the progress.
    ///
    /// # Errors
    /// A callback that panicked.
    pub(super) fn count_token(&self, now: Instant) -> Result<()> {
        let mut state = self.lock();
        state.progress.tokens += 1;
        state.progress.elapsed = state.started.map_or(Duration::ZERO, |started| now - started);
        let progress = state.progress;
        let Some(mut on_progress) = state.on_progress.take() else {
            return Ok(());
        };
        drop(state); // the callback may take its time
        on_progress.tell(progress)?;
        self.lock().on_progress = Some(on_progress);
        Ok(())
    }

    /// Records the completion of the sequence at `index`. The last completion ends the job.
    pub(super) fn complete(&self, index: usize, completion: Completion) {
        let mut state = self.lock();
        state.completions[index] = Some(completion);
        if state.completions.iter().all(Option::is_some) {
            let completions = std::mem::take(&mut state.completions);
            drop(state);
            self.reader.end(Ok(completions.into_iter().flatten().collect()));
        }
    }

    /// Fails the job, which ends its other sequences too.
    pub(super) fn fail(&self, error: Error) {
        self.reader.end(Err(error));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningJob {
    fn drop(&mut self) {
        // No effect if the job has ended.
        self.reader.end(Err(ServiceError::ShutDown.into()));
    }
}
