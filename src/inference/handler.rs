//! Handlers and the arguments they may take.

use std::time::Instant;

use super::cancel::CancelToken;
use super::model_handle::ModelHandle;
use super::stream::OutStream;
use crate::error::Result;

/// The context of one job. A handler does not see the context: each of its arguments extracts a
/// part.
pub struct JobContext<I, O, M, S> {
    pub(super) input: I,
    pub(super) state: S,
    pub(super) model: ModelHandle<M>,
    pub(super) output: OutStream<O>,
}

/// The job's input, as given to `infer`.
pub struct In<I>(pub I);

/// The state given to `with_state`, of the job or else of the builder.
pub struct State<S>(pub S);

// ANCHOR: from_context
/// A part of a job's [`JobContext`].
pub trait FromContext<I, O, M, S>: Sized {
    /// Clones the part, or a handle to it.
    fn from_context(context: &JobContext<I, O, M, S>) -> Self;
}
// ANCHOR_END: from_context

impl<I: Clone, O, M, S> FromContext<I, O, M, S> for In<I> {
    fn from_context(context: &JobContext<I, O, M, S>) -> Self {
        In(context.input.clone())
    }
}

impl<I, O, M, S: Clone> FromContext<I, O, M, S> for State<S> {
    fn from_context(context: &JobContext<I, O, M, S>) -> Self {
        State(context.state.clone())
    }
}

impl<I, O, M, S> FromContext<I, O, M, S> for ModelHandle<M> {
    fn from_context(context: &JobContext<I, O, M, S>) -> Self {
        let ModelHandle { model, commands, started, submitted } = &context.model;
        let (model, commands, started) = (model.clone(), commands.clone(), started.clone());
        let submitted: Instant = *submitted;
        ModelHandle { model, commands, started, submitted }
    }
}

impl<I, O, M, S> FromContext<I, O, M, S> for CancelToken {
    fn from_context(context: &JobContext<I, O, M, S>) -> Self {
        context.output.0.cancel.clone()
    }
}

impl<I, O, M, S> FromContext<I, O, M, S> for OutStream<O> {
    fn from_context(context: &JobContext<I, O, M, S>) -> Self {
        context.output.clone()
    }
}

/// A function of one to five parts of a job's [`JobContext`], in any order: [`In`],
/// [`ModelHandle`], [`OutStream`], [`CancelToken`], [`State`].
pub trait Handler<Arguments, I, O, M, S>: Send + Sync + 'static {
    /// Starts the job's sequences.
    ///
    /// # Errors
    /// Any error that the function returns.
    fn call(&self, context: &JobContext<I, O, M, S>) -> Result<()>;
}

macro_rules! handler {
    ($($argument:ident),+) => {
        impl<F, I, O, M, S, $($argument),+> Handler<($($argument,)+), I, O, M, S> for F
        where
            F: Fn($($argument),+) -> Result<()> + Send + Sync + 'static,
            $($argument: FromContext<I, O, M, S>),+
        {
            fn call(&self, context: &JobContext<I, O, M, S>) -> Result<()> {
                self($($argument::from_context(context)),+)
            }
        }
    };
}

handler!(A1);
handler!(A1, A2);
handler!(A1, A2, A3);
handler!(A1, A2, A3, A4);
handler!(A1, A2, A3, A4, A5);
