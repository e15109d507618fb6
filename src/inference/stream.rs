//! The two ends of what a job puts out: the handler writes, the caller reads.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::Completion;
use super::cancel::{CancelToken, Doorbell};
use super::model_thread::check_may_wait;
use crate::error::Result;

/// How a job ended: what is known of each of its sequences, in the order in which the handler
/// started them.
pub(super) type Outcome = Result<Vec<Completion>>;

/// What both ends share. One lock guards the items and the outcome, so that a reader that
/// finds no item knows whether one may still come.
pub(super) struct Channel<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    capacity: usize,
    /// Rung when a reader has caught up, so that the sequence that waits for it goes on.
    doorbell: Doorbell,
}

struct State<T> {
    items: VecDeque<T>,
    /// Nobody will read any more.
    discarded: bool,
    ended: bool,
    outcome: Option<Outcome>,
    /// An asynchronous reader that waits.
    #[cfg(feature = "async")]
    waker: Option<std::task::Waker>,
}

impl<T> State<T> {
    /// Whether a reader finds nothing, but something may still come.
    fn must_wait(&self) -> bool {
        self.items.is_empty() && !self.ended
    }
}

impl<T> Channel<T> {
    pub(super) fn new(capacity: usize, doorbell: Doorbell) -> Self {
        let state = State {
            items: VecDeque::new(),
            discarded: false,
            ended: false,
            outcome: None,
            #[cfg(feature = "async")]
            waker: None,
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            capacity,
            doorbell,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // No code of a caller's runs under the lock, so the state is whole even then.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`lock`](Self::lock), for a reader. In the thread of a model, which must not wait, the
    /// job ends where there is nothing to read.
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

    /// Lets go of the lock and wakes whoever waits for a change. A waker is code of the
    /// reader's, and one that panics is the reader's loss.
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

    /// Takes the next item. Where the reader had fallen behind, the model thread learns that
    /// it has caught up.
    fn pop(&self, mut state: MutexGuard<'_, State<T>>) -> Option<T> {
        let was_behind = state.items.len() == self.capacity;
        let item = state.items.pop_front();
        drop(state);
        if was_behind {
            self.doorbell.ring();
        }
        item
    }

    /// Ends the stream. Only the first call counts.
    fn end(&self, outcome: Outcome) {
        let mut state = self.lock();
        if state.ended {
            return;
        }
        state.ended = true;
        state.outcome = Some(outcome);
        self.notify(state);
    }

    /// Drops what is there and what will come.
    fn discard(&self) {
        let mut state = self.lock();
        state.discarded = true;
        let items = std::mem::take(&mut state.items);
        drop(state);
        drop(items);
    }
}

/// The end of a [`Channel`] that the model thread sees: it does not know what the items are.
pub(super) trait Reader: Send + Sync {
    /// Whether as many items wait to be read as may.
    fn is_behind(&self) -> bool;

    /// Ends the stream. Only the first call counts.
    fn end(&self, outcome: Outcome);

    /// Whether it was ended.
    fn has_ended(&self) -> bool;
}

impl<T: Send> Reader for Channel<T> {
    fn is_behind(&self) -> bool {
        self.lock().items.len() >= self.capacity
    }

    fn end(&self, outcome: Outcome) {
        self.end(outcome);
    }

    fn has_ended(&self) -> bool {
        self.lock().ended
    }
}

/// Where a handler puts what it makes of the tokens. A clone writes to the same stream.
pub struct OutStream<T>(pub(super) Arc<Channel<T>>);

impl<T> OutStream<T> {
    // ANCHOR: emit
    /// Hands an item to the caller of the job. It never waits: where the caller is behind, the
    /// job's sequences pause after this step. Breaks when the job has ended.
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

/// What a job puts out, in order. Dropping it before its end cancels the job.
///
/// A callback runs in the model's thread, which cannot wait for itself. Where it reads a stream
/// that has nothing to read yet, that job ends with [`Error::WaitInModelThread`](crate::Error).
///
/// With the feature `async` it is a `futures::Stream` too.
pub struct JobStream<T> {
    channel: Arc<Channel<T>>,
    cancel: CancelToken,
}

impl<T> JobStream<T> {
    pub(super) fn new(channel: Arc<Channel<T>>, cancel: CancelToken) -> Self {
        Self { channel, cancel }
    }

    /// The items as they come: waits for each, and ends when the job has ended and all was
    /// read.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// Waits for the end of the job without reading what it still puts out.
    pub(super) fn into_outcome(self) -> Outcome {
        self.channel.discard();
        // The sequences may be waiting for a reader.
        self.channel.doorbell.ring();
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

// ANCHOR: drop
impl<T> Drop for JobStream<T> {
    fn drop(&mut self) {
        self.channel.discard();
        if !self.channel.lock().ended {
            self.cancel.cancel();
        }
    }
}
// ANCHOR_END: drop

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
        // A waker is code of the reader's, as its `Drop` is: none of it runs under the lock.
        let mut waker = Some(context.waker().clone());
        let mut state = self.channel.lock_to_read();
        if state.must_wait() {
            std::mem::swap(&mut state.waker, &mut waker);
            return std::task::Poll::Pending;
        }
        std::task::Poll::Ready(self.channel.pop(state))
    }
}
