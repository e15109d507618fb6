//! Callbacks that run in the model thread.
//!
//! User code may panic, and so may its `Drop`: neither may end the model thread.

use std::ops::ControlFlow;

use super::{Completion, Prefill, Progress, TokenOutput};
use crate::error::Result;
use crate::panics;

/// A handler's callback for each token.
pub(super) struct OnToken(Box<dyn FnMut(TokenOutput) -> ControlFlow<()> + Send>);

impl OnToken {
    pub(super) fn new(
        on_token: impl FnMut(TokenOutput) -> ControlFlow<()> + Send + 'static,
    ) -> Self {
        Self(Box::new(on_token))
    }

    /// Passes on tokens until the callback breaks.
    ///
    /// # Errors
    /// A callback that panics.
    pub(super) fn emit(&mut self, outputs: Vec<TokenOutput>) -> Result<ControlFlow<()>> {
        let on_token = &mut self.0;
        panics::contain("the handler's callback", || outputs.into_iter().try_for_each(on_token))
    }
}

impl Drop for OnToken {
    fn drop(&mut self) {
        panics::discard(std::mem::replace(&mut self.0, Box::new(|_| ControlFlow::Break(()))));
    }
}

/// A handler's callback for what happens once to a sequence.
pub(super) struct Once<T>(Option<OnceFn<T>>);

type OnceFn<T> = Box<dyn FnOnce(&T) + Send>;

/// A handler's callback for the end of a sequence's prefill.
pub(super) type OnPrefill = Once<Prefill>;

/// A handler's callback for the end of a sequence.
pub(super) type OnEnd = Once<Completion>;

impl<T> Once<T> {
    pub(super) fn new(callback: impl FnOnce(&T) + Send + 'static) -> Self {
        Self(Some(Box::new(callback)))
    }

    /// # Errors
    /// A callback that panics.
    pub(super) fn tell(mut self, what: &T) -> Result<()> {
        match self.0.take() {
            Some(callback) => panics::contain("the handler's callback", || callback(what)),
            None => Ok(()),
        }
    }
}

impl<T> Drop for Once<T> {
    fn drop(&mut self) {
        panics::discard(self.0.take());
    }
}

/// The callback that reports a job's progress.
pub(super) struct OnProgress(Box<dyn FnMut(Progress) + Send>);

impl OnProgress {
    pub(super) fn new(on_progress: impl FnMut(Progress) + Send + 'static) -> Self {
        Self(Box::new(on_progress))
    }

    /// # Errors
    /// A callback that panics.
    pub(super) fn tell(&mut self, progress: Progress) -> Result<()> {
        panics::contain("the progress callback", || (self.0)(progress))
    }
}

impl Drop for OnProgress {
    fn drop(&mut self) {
        panics::discard(std::mem::replace(&mut self.0, Box::new(|_| ())));
    }
}

/// A function to run on the model once.
pub(super) struct Call<M>(Option<CallFn<M>>);

type CallFn<M> = Box<dyn FnOnce(&M) + Send>;

impl<M> Call<M> {
    /// `call` must catch its own panics.
    pub(super) fn new(call: impl FnOnce(&M) + Send + 'static) -> Self {
        Self(Some(Box::new(call)))
    }

    pub(super) fn run(mut self, model: &M) {
        if let Some(call) = self.0.take() {
            call(model);
        }
    }
}

impl<M> Drop for Call<M> {
    fn drop(&mut self) {
        panics::discard(self.0.take());
    }
}
