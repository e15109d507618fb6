//! From a model and a handler to an [`Inference`].

use std::borrow::Borrow;
use std::sync::{Arc, mpsc};
use std::thread;

use super::Inference;
use super::handler::{Context, Handler};
use super::worker::Worker;
use crate::error::{Error, Result};
use crate::pretrained::Pretrained;

/// How an [`Inference`] is to be built.
pub struct InferenceBuilder<M = (), S = ()> {
    model: M,
    state: S,
    stream_capacity: usize,
    max_running: usize,
}

impl InferenceBuilder {
    /// No model yet, no state, streams of 16 items, and 64 sequences that run at once.
    pub fn new() -> Self {
        Self { model: (), state: (), stream_capacity: 16, max_running: 64 }
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
        let Self { state, stream_capacity, max_running, .. } = self;
        InferenceBuilder { model, state, stream_capacity, max_running }
    }

    /// What a handler gets as [`State`](super::State), unless the job brings its own.
    pub fn with_state<T>(self, state: T) -> InferenceBuilder<M, T> {
        let Self { model, stream_capacity, max_running, .. } = self;
        InferenceBuilder { model, state, stream_capacity, max_running }
    }

    /// How many items may wait for a job's reader before the job pauses; at least 1.
    pub fn with_stream_capacity(mut self, items: usize) -> Self {
        self.stream_capacity = items.max(1);
        self
    }

    /// How many sequences take part in a step; at least 1. The others wait for their turn, in
    /// the order in which they came.
    pub fn with_max_running(mut self, sequences: usize) -> Self {
        self.max_running = sequences.max(1);
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
        let (shared, max_running) = (model.clone(), self.max_running);
        let work = move || {
            let model: &M = &shared;
            Worker::new(model, model.borrow(), received, max_running).run();
        };
        let thread = thread::Builder::new()
            .name("slowburn model".to_owned())
            .spawn(work)
            .map_err(Error::Thread)?;
        Ok(Inference {
            model,
            commands,
            thread: Some(thread),
            handler: Box::new(move |context: &Context<I, O, M, S>| handler.call(context)),
            state: self.state,
            stream_capacity: self.stream_capacity,
        })
    }
}
