//! Callbacks that run in the model thread.
//!
//! User code may panic, and so may its `Drop`: neither may end the model thread.

use std::ops::ControlFlow;

use super::{Completion, Prefill, Progress, TokenOutput};
use crate::error::Result;
use crate::panics;

/// A function of the caller's, until it is dropped or was called for the last time.
pub(super) struct Callback<F>(Option<F>);

/// A handler's callback for each token.
pub(super) type OnToken = Callback<Box<dyn FnMut(TokenOutput) -> ControlFlow<()> + Send>>;

/// The callback that reports a job's progress.
pub(super) type OnProgress = Callback<Box<dyn FnMut(Progress) + Send>>;

/// A callback for what happens once.
type Once<T> = Callback<Box<dyn FnOnce(&T) + Send>>;

/// A handler's callback for the end of a sequence's prefill.
pub(super) type OnPrefill = Once<Prefill>;

/// A handler's callback for the end of a sequence.
pub(super) type OnEnd = Once<Completion>;

impl<F> Callback<F> {
    pub(super) fn new(callback: F) -> Self {
        Self(Some(callback))
    }

    pub(super) fn take(mut self) -> Option<F> {
        self.0.take()
    }
}

impl OnToken {
    /// Passes on tokens until the callback breaks.
    ///
    /// # Errors
    /// A callback that panics.
    pub(super) fn emit(&mut self, outputs: Vec<TokenOutput>) -> Result<ControlFlow<()>> {
        panics::contain("the handler's callback", || match &mut self.0 {
            Some(on_token) => outputs.into_iter().try_for_each(on_token),
            None => ControlFlow::Break(()),
        })
    }
}

impl OnProgress {
    /// # Errors
    /// A callback that panics.
    pub(super) fn tell(&mut self, progress: Progress) -> Result<()> {
        panics::contain("the progress callback", || {
            self.0.iter_mut().for_each(|tell| tell(progress))
        })
    }
}

impl<T> Once<T> {
    /// # Errors
    /// A callback that panics.
    pub(super) fn tell(self, what: &T) -> Result<()> {
        match self.take() {
            Some(callback) => panics::contain("the handler's callback", || callback(what)),
            None => Ok(()),
        }
    }
}

impl<F> Drop for Callback<F> {
    fn drop(&mut self) {
        panics::discard(self.0.take());
    }
}
