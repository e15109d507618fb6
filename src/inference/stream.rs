//! The stream of a job: a bounded channel from the handler to the caller.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, PoisonError};

use super::Completion;
use super::cancel::CancelToken;
use super::model_thread::check_may_wait;
use crate::error::Result;
use crate::sync::{Condvar, Mutex, MutexGuard};

/// A job's completions, one per sequence, in the order in which the handler started them.
pub(super) type Outcome = Result<Vec<Completion>>;

/// The shared state of both ends. One lock guards the items and the outcome, so that a reader of an
/// empty stream knows whether the job has ended.
pub(super) struct Channel<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    /// Cancels the job. When a full stream is read, it wakes the paused sequences.
    pub(super) cancel: CancelToken,
}

struct State<T> {
    items: VecDeque<T>,
    capacity: usize,
    /// The reader is gone: further items are dropped.
    discarded: bool,
    ended: bool,
    outcome: Option<Outcome>,
    /// The waker of a pending asynchronous reader.
    #[cfg(feature = "async")]
    waker: Option<std::task::Waker>,
}

impl<T> State<T> {
    /// Whether a reader must block: the stream is empty, and the job has not ended.
    fn must_wait(&self) -> bool {
        self.items.is_empty() && !self.ended
    }
}

impl<T> Channel<T> {
    pub(super) fn new(capacity: usize, cancel: CancelToken) -> Self {
        let state = State {
            items: VecDeque::new(),
            capacity,
            discarded: false,
            ended: false,
            outcome: None,
            #[cfg(feature = "async")]
            waker: None,
        };
        Self { state: Mutex::new(state), changed: Condvar::new(), cancel }
    }

    /// Makes room for the items of so many sequences, instead of one. Called before any of them
    /// runs.
    pub(super) fn widen(&self, sequences: usize) {
        let mut state = self.lock();
        state.capacity = state.capacity.saturating_mul(sequences.max(1));
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // No user code runs under the lock, so a poisoned state is still consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`lock`](Self::lock), for a reader. In a model thread, where a reader must not block, an
    /// empty stream ends the job instead.
    fn lock_to_read(&self) -> MutexGuard<'_, State<T>> {
        let state = self.lock();
        match check_may_wait() {
            Err(error) if state.must_wait() => {
                drop(state);
                self.end(Err(error));
                self.lock()
            }
            _ => state,
        }
    }

    /// Releases the lock and wakes readers. A waker is user code: its panic is contained, and costs
    /// only its own wake-up.
    #[cfg_attr(not(feature = "async"), allow(unused_mut))]
    fn notify(&self, mut state: MutexGuard<'_, State<T>>) {
        #[cfg(feature = "async")]
        let waker = state.waker.take();
        drop(state);
        self.changed.notify_all();
        #[cfg(feature = "async")]
        waker.into_iter().for_each(|waker| {
            let _ = crate::panics::contain("the waker", || waker.wake());
        });
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next item. If the stream was full, wakes the model thread to resume the job.
    fn pop(&self, mut state: MutexGuard<'_, State<T>>) -> Option<T> {
        let was_behind = state.items.len() == state.capacity;
        let item = state.items.pop_front();
        drop(state);
        if was_behind {
            self.cancel.wake();
        }
        item
    }

    /// Ends the stream. Calls after the first have no effect.
    fn end(&self, outcome: Outcome) {
        let mut state = self.lock();
        if state.ended {
            return;
        }
        state.ended = true;
        state.outcome = Some(outcome);
        self.notify(state);
    }

    /// Drops all items, present and future.
    fn discard(&self) {
        let mut state = self.lock();
        state.discarded = true;
        let items = std::mem::take(&mut state.items);
        drop(state);
        drop(items);
    }
}

/// The model thread's view of a [`Channel`], whatever the type of its items.
pub(super) trait Reader: Send + Sync {
    /// Whether the stream is full.
    fn is_behind(&self) -> bool;

    /// Ends the stream. Calls after the first have no effect.
    fn end(&self, outcome: Outcome);

    fn has_ended(&self) -> bool;
}

impl<T: Send> Reader for Channel<T> {
    fn is_behind(&self) -> bool {
        let state = self.lock();
        state.items.len() >= state.capacity
    }

    fn end(&self, outcome: Outcome) {
        self.end(outcome);
    }

    fn has_ended(&self) -> bool {
        self.lock().ended
    }
}

/// The writing end of a job's stream. Clones write to the same stream.
pub struct OutStream<T>(pub(super) Arc<Channel<T>>);

impl<T> OutStream<T> {
    // ANCHOR: emit
    /// Emits an item to the caller. Never blocks: if the stream is full, the job's sequences pause
    /// after this step. Breaks when the job has ended.
    pub fn emit(&self, item: T) -> ControlFlow<()> {
        let mut state = self.0.lock();
        if state.ended {
            return ControlFlow::Break(());
        }
        if !state.discarded {
            state.items.push_back(item);
            self.0.notify(state);
        }
        ControlFlow::Continue(())
    }
    // ANCHOR_END: emit
}

impl<T> Clone for OutStream<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// The reading end of a job's stream, in order. Dropping it before the job ends cancels the job.
///
/// A callback runs in the model thread, which cannot wait for itself. If a callback reads an empty
/// stream, the stream's job ends with [`ServiceError::WaitInModelThread`](crate::ServiceError).
///
/// With the feature `async`, also a `futures::Stream`.
pub struct JobStream<T> {
    pub(super) channel: Arc<Channel<T>>,
}

impl<T> JobStream<T> {
    /// Iterates over the items, blocking for each, until the job has ended and all items are read.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// Waits for the job to end, and drops unread items.
    pub(super) fn into_outcome(self) -> Outcome {
        self.channel.discard();
        // The sequences may be paused because the stream was full.
        self.channel.cancel.wake();
        let mut state = self.channel.lock();
        loop {
            match state.outcome.take() {
                Some(outcome) => return outcome,
                None => state = self.channel.wait(state),
            }
        }
    }

    fn next(&self) -> Option<T> {
        let mut state = self.channel.lock_to_read();
        while state.must_wait() {
            state = self.channel.wait(state);
        }
        self.channel.pop(state)
    }
}

impl<T> Drop for JobStream<T> {
    fn drop(&mut self) {
        self.channel.discard();
        if !self.channel.lock().ended {
            self.channel.cancel.cancel();
        }
    }
}

/// Iterates over the items of a [`JobStream`].
pub struct Iter<'a, T>(&'a JobStream<T>);

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.next()
    }
}

impl<'a, T> IntoIterator for &'a JobStream<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

#[cfg(feature = "async")]
impl<T> futures_core::Stream for JobStream<T> {
    type Item = T;

    fn poll_next(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<T>> {
        // A waker's `clone` and `Drop` are user code, so neither runs under the lock.
        let mut waker = Some(context.waker().clone());
        let mut state = self.channel.lock_to_read();
        if state.must_wait() {
            std::mem::swap(&mut state.waker, &mut waker);
            return std::task::Poll::Pending;
        }
        std::task::Poll::Ready(self.channel.pop(state))
    }
}
