//! A job as its caller sees it, and as the model thread does.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::callback::OnProgress;
use super::cancel::CancelToken;
use super::model_thread::check_may_wait;
use super::stream::{JobStream, Reader};
use super::{Completion, Progress};
use crate::error::{Error, Result};

/// A request that is being worked on. Dropping it cancels it.
#[must_use = "a job that is dropped is cancelled"]
pub struct Job<O> {
    /// What the handler makes of the tokens, as they come.
    pub stream: JobStream<O>,
    pub(super) cancel: CancelToken,
}

impl<O> Job<O> {
    /// Ends the job before its next step. What it has put out can still be read.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// What cancels this job from elsewhere.
    pub fn cancel_token(&self) -> CancelToken {
        self.cancel.clone()
    }

    /// Waits for the end. What was not read of the stream is dropped. Where the handler
    /// started several sequences, this tells of the first.
    ///
    /// # Errors
    /// Those of the handler and of its sequences, a panic in either; a callback in the model's
    /// thread, which would wait for itself.
    pub fn join(self) -> Result<Completion> {
        self.join_all()?.into_iter().next().ok_or(Error::NothingStarted)
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

/// A job that has ended, with all that it put out.
#[derive(Debug, Clone, PartialEq)]
pub struct Collected<O> {
    /// In order.
    pub outputs: Vec<O>,
    /// One for each sequence, in the order in which the handler started them.
    pub completions: Vec<Completion>,
}

/// Names a job of one inference. One that was spawned later has a greater one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct JobId(pub(super) u64);

/// What the sequences of a job share in the model thread. However it is lost, its caller
/// learns that the job has ended.
pub(super) struct RunningJob {
    pub(super) id: JobId,
    pub(super) cancel: CancelToken,
    pub(super) submitted: Instant,
    reader: Arc<dyn Reader>,
    state: Mutex<State>,
}

struct State {
    completions: Vec<Option<Completion>>,
    /// How many of its sequences have not ended.
    open: usize,
    on_progress: Option<OnProgress>,
    started: Option<Instant>,
    tokens: usize,
    max_tokens: usize,
}

impl RunningJob {
    /// `max_tokens` is how many all sequences may have together.
    pub(super) fn new(
        id: JobId,
        cancel: CancelToken,
        reader: Arc<dyn Reader>,
        submitted: Instant,
        sequences: usize,
        max_tokens: usize,
        on_progress: Option<OnProgress>,
    ) -> Self {
        let state = State {
            completions: vec![None; sequences],
            open: sequences,
            on_progress,
            started: None,
            tokens: 0,
            max_tokens,
        };
        Self { id, cancel, submitted, reader, state: Mutex::new(state) }
    }

    /// Whether its reader is so far behind that its sequences must pause.
    pub(super) fn is_behind(&self) -> bool {
        self.reader.is_behind()
    }

    /// Whether nothing more is to be done for it: it was cancelled, or it has ended because one
    /// of its sequences has failed.
    pub(super) fn is_over(&self) -> bool {
        self.cancel.is_cancelled() || self.reader.has_ended()
    }

    /// One of its sequences has joined the batch.
    pub(super) fn start(&self, now: Instant) {
        self.lock().started.get_or_insert(now);
    }

    /// One of its sequences has one more token.
    ///
    /// # Errors
    /// A callback that panicked.
    pub(super) fn count_token(&self, now: Instant) -> Result<()> {
        let mut state = self.lock();
        state.tokens += 1;
        let progress = Progress {
            tokens: state.tokens,
            max_tokens: state.max_tokens,
            elapsed: state.started.map_or_else(Default::default, |started| now - started),
        };
        let Some(mut on_progress) = state.on_progress.take() else {
            return Ok(());
        };
        drop(state); // the callback may take its time
        on_progress.tell(progress)?;
        self.lock().on_progress = Some(on_progress);
        Ok(())
    }

    /// One of its sequences, the one at `index`, has ended. With the last one the job has.
    pub(super) fn complete(&self, index: usize, completion: Completion) {
        let mut state = self.lock();
        state.completions[index] = Some(completion);
        state.open -= 1;
        if state.open == 0 {
            let completions = std::mem::take(&mut state.completions);
            drop(state);
            self.reader.end(Ok(completions.into_iter().flatten().collect()));
        }
    }

    /// The job has failed, and its other sequences are not needed any more.
    pub(super) fn fail(&self, error: Error) {
        self.reader.end(Err(error));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningJob {
    fn drop(&mut self) {
        // Does nothing where it has ended.
        self.reader.end(Err(Error::ShutDown));
    }
}
