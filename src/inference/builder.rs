//! From a model and a handler to an [`Inference`].

use std::borrow::Borrow;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, mpsc};
use std::thread;

use super::Inference;
use super::handler::{Handler, JobContext};
use super::limits::Limits;
use super::permits::Semaphore;
use super::worker::Worker;
use crate::error::{Error, Result};
use crate::pretrained::Pretrained;

/// How an [`Inference`] is to be built.
pub struct InferenceBuilder<M = (), S = ()> {
    model: M,
    state: S,
    limits: Limits,
}

impl InferenceBuilder {
    /// No model yet, no state, streams of 16 items. Up to 64 sequences run at once, 64 more may
    /// sit out because nobody reads them, and 1,024 may wait for their turn.
    pub fn new() -> Self {
        Self { model: (), state: (), limits: Limits::default() }
    }
}

impl Default for InferenceBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl<M, S> InferenceBuilder<M, S> {
    /// The model that answers: a [`Pretrained`], an `Arc` of one that others look at too, or a
    /// type of your own that lends one.
    pub fn with_model<N: Borrow<Pretrained>>(self, model: N) -> InferenceBuilder<N, S> {
        let Self { state, limits, .. } = self;
        InferenceBuilder { model, state, limits }
    }

    /// What a handler gets as [`State`](super::State), unless the job brings its own.
    pub fn with_state<T>(self, state: T) -> InferenceBuilder<M, T> {
        let Self { model, limits, .. } = self;
        InferenceBuilder { model, state, limits }
    }

    /// How many items may wait for a job's reader before the job pauses; at least 1.
    pub fn with_stream_capacity(mut self, items: usize) -> Self {
        self.limits.stream_capacity = items.max(1);
        self
    }

    /// How many sequences take part in a step; at least 1. The others wait for their turn, in
    /// the order in which they came.
    pub fn with_max_running(mut self, sequences: usize) -> Self {
        self.limits.max_running = sequences.max(1);
        self
    }

    /// How many sequences may sit out, because nobody reads what they put out, while as many as
    /// may run do. Each keeps its KV cache. If more of them sit out, fewer can run; if all of
    /// them do, no other joins until one is read, cancelled, or at its deadline.
    pub fn with_max_paused(mut self, sequences: usize) -> Self {
        self.limits.max_paused = sequences;
        self
    }

    /// How many sequences may wait for their turn; at least 1. A job that brings more than there
    /// is room for ends with [`Error::QueueFull`]. Every sequence waits at least until the step
    /// ends that runs when it comes.
    pub fn with_max_waiting(mut self, sequences: usize) -> Self {
        self.limits.max_waiting = sequences.max(1);
        self
    }

    /// How many tokens of its prompt a sequence reads in one step; at least 1. The others have
    /// their next token after so many, and deadlines are looked at.
    pub fn with_chunk(mut self, tokens: usize) -> Self {
        self.limits.chunk = tokens.max(1);
        self
    }

    /// Starts the thread of the model.
    ///
    /// # Errors
    /// A system that grants no more threads.
    pub fn build<I, O, A>(
        self,
        handler: impl Handler<A, I, O, M, S>,
    ) -> Result<Inference<I, O, M, S>>
    where
        M: Borrow<Pretrained> + Send + Sync + 'static,
    {
        let (commands, received) = mpsc::channel();
        let model = Arc::new(self.model);
        let (shared, limits) = (model.clone(), self.limits);
        let work = move || {
            let model: &M = &shared;
            Worker::new(model, model.borrow(), received, limits).run();
        };
        let thread = thread::Builder::new()
            .name("slowburn model".to_owned())
            .spawn(work)
            .map_err(Error::Thread)?;
        Ok(Inference {
            model,
            commands,
            thread: Some(thread),
            handler: Box::new(move |context: &JobContext<I, O, M, S>| handler.call(context)),
            state: self.state,
            next_job: AtomicU64::new(0),
            queue: Semaphore::new(limits.max_waiting),
            stream_capacity: limits.stream_capacity,
        })
    }
}
