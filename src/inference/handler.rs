//! What a handler is, and what it may ask for.

use std::time::Instant;

use super::accessor::ModelAccessor;
use super::cancel::CancelToken;
use super::stream::OutStream;
use crate::error::Result;

/// What belongs to one job while its handler runs. A handler does not see it: it gets the parts
/// that it names.
pub struct Context<I, O, M, S> {
    pub(super) input: I,
    pub(super) state: S,
    pub(super) model: ModelAccessor<M>,
    pub(super) cancel: CancelToken,
    pub(super) output: OutStream<O>,
}

/// The input of the job: what was given to `infer`.
pub struct In<I>(pub I);

/// What was given to `with_state`: of the job, or else of the builder.
pub struct State<S>(pub S);

// ANCHOR: from_context
/// A part of a job's [`Context`].
pub trait FromContext<I, O, M, S>: Sized {
    /// Takes a handle of it, or a copy.
    fn from_context(context: &Context<I, O, M, S>) -> Self;
}
// ANCHOR_END: from_context

impl<I: Clone, O, M, S> FromContext<I, O, M, S> for In<I> {
    fn from_context(context: &Context<I, O, M, S>) -> Self {
        In(context.input.clone())
    }
}

impl<I, O, M, S: Clone> FromContext<I, O, M, S> for State<S> {
    fn from_context(context: &Context<I, O, M, S>) -> Self {
        State(context.state.clone())
    }
}

impl<I, O, M, S> FromContext<I, O, M, S> for ModelAccessor<M> {
    fn from_context(context: &Context<I, O, M, S>) -> Self {
        let ModelAccessor { model, commands, starts, submitted } = &context.model;
        let (model, commands, starts) = (model.clone(), commands.clone(), starts.clone());
        let submitted: Instant = *submitted;
        ModelAccessor { model, commands, starts, submitted }
    }
}

impl<I, O, M, S> FromContext<I, O, M, S> for CancelToken {
    fn from_context(context: &Context<I, O, M, S>) -> Self {
        context.cancel.clone()
    }
}

impl<I, O, M, S> FromContext<I, O, M, S> for OutStream<O> {
    fn from_context(context: &Context<I, O, M, S>) -> Self {
        context.output.clone()
    }
}

/// A function of one to five parts of a job's [`Context`], in any order: [`In`],
/// [`ModelAccessor`], [`OutStream`], [`CancelToken`], [`State`].
pub trait Handler<Arguments, I, O, M, S>: Send + Sync + 'static {
    /// Starts what the job consists of.
    ///
    /// # Errors
    /// Whatever the function returns.
    fn call(&self, context: &Context<I, O, M, S>) -> Result<()>;
}

macro_rules! handler {
    ($($argument:ident),+) => {
        impl<F, I, O, M, S, $($argument),+> Handler<($($argument,)+), I, O, M, S> for F
        where
            F: Fn($($argument),+) -> Result<()> + Send + Sync + 'static,
            $($argument: FromContext<I, O, M, S>),+
        {
            fn call(&self, context: &Context<I, O, M, S>) -> Result<()> {
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
