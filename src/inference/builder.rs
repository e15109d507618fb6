//! Builds an [`Inference`] from a model and a handler.

use std::borrow::Borrow;
use std::io::Write;
use std::sync::Arc;

use super::Inference;
use super::handler::{Handler, JobContext};
use super::permits::Semaphore;
use super::recorder::Recorder;
use super::worker::Worker;
use crate::engine::EngineConfig;
use crate::error::{Result, ServiceError};
use crate::pretrained::Pretrained;
use crate::speculation::Speculation;
use crate::sync::atomic::AtomicU64;
use crate::sync::{mpsc, thread};

/// The settings of an [`Inference`] before it is built.
pub struct InferenceBuilder<M = (), S = ()> {
    model: M,
    state: S,
    settings: Settings,
}

/// What a builder sets besides the model and the state.
pub(super) struct Settings {
    /// All but [`EngineConfig::max_admitted`], which is known when an [`Inference`] is built.
    pub(super) engine: EngineConfig,
    /// Admitted sequences that do not run (paused or preempted), beside those that run.
    max_paused: usize,
    /// Sequences in the queue.
    max_waiting: usize,
    /// Items that a stream holds before its job's sequences pause.
    stream_capacity: usize,
    /// Prompt tokens that a sequence prefills in one step.
    pub(super) chunk: usize,
    pub(super) recorder: Recorder,
    pub(super) speculation: Option<Speculation>,
}

impl InferenceBuilder {
    /// The default limits, without a model or state: 16 items of a stream per sequence, 64 running
    /// sequences, 64 paused ones and 1,024 queued ones, 512 tokens per step.
    pub fn new() -> Self {
        let settings = Settings {
            engine: EngineConfig::default(),
            max_paused: 64,
            max_waiting: 1024,
            stream_capacity: 16,
            chunk: 256,
            recorder: Recorder::default(),
            speculation: None,
        };
        Self { model: (), state: (), settings }
    }
}

impl Default for InferenceBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl<M, S> InferenceBuilder<M, S> {
    /// The model to serve: a [`Pretrained`], a shared `Arc` of one, or a type of your own that
    /// borrows as one.
    pub fn with_model<N: Borrow<Pretrained>>(self, model: N) -> InferenceBuilder<N, S> {
        InferenceBuilder { model, state: self.state, settings: self.settings }
    }

    /// The [`State`](super::State) that handlers get, unless the job brings its own.
    pub fn with_state<T>(self, state: T) -> InferenceBuilder<M, T> {
        InferenceBuilder { model: self.model, state, settings: self.settings }
    }

    /// The capacity of a job's stream in items for each of its sequences, at least 1. A job with a
    /// full stream pauses.
    pub fn with_stream_capacity(mut self, items: usize) -> Self {
        self.settings.stream_capacity = items.max(1);
        self
    }

    /// The maximum number of sequences in a step, at least 1. Further sequences are queued in order
    /// of arrival.
    pub fn with_max_running(mut self, sequences: usize) -> Self {
        self.settings.engine.max_running = sequences.max(1);
        self
    }

    /// The maximum number of paused or preempted sequences beside
    /// [`with_max_running`](Self::with_max_running) running ones. At that number, if none can
    /// resume, no queued sequence is admitted until a paused one is read, cancelled, or reaches its
    /// deadline.
    pub fn with_max_paused(mut self, sequences: usize) -> Self {
        self.settings.max_paused = sequences;
        self
    }

    /// The capacity of the queue in sequences, at least 1. A job with more sequences than free
    /// slots ends with [`ServiceError::QueueFull`]. Every sequence is queued at least until the current
    /// step ends.
    pub fn with_max_waiting(mut self, sequences: usize) -> Self {
        self.settings.max_waiting = sequences.max(1);
        self
    }

    /// The maximum number of prompt tokens that a sequence prefills in one step (chunked prefill),
    /// at least 1. In the same step the other sequences decode a token; after it, deadlines are
    /// checked. All prompts together get what the decodes leave of the
    /// [token budget](Self::with_token_budget).
    pub fn with_chunk(mut self, tokens: usize) -> Self {
        self.settings.chunk = tokens.max(1);
        self
    }

    /// The token budget of a step, at least 1: the maximum number of tokens that all sequences
    /// compute together. Every running sequence decodes and one prompt token is read, whatever the
    /// budget. A small budget keeps the time between two tokens short while prompts are read; a
    /// large one reads prompts faster. The default is 512.
    pub fn with_token_budget(mut self, tokens: usize) -> Self {
        self.settings.engine.token_budget = tokens.max(1);
        self
    }

    /// Whether a sequence takes full blocks of the KV cache from sequences whose prompt began with
    /// the same tokens, instead of computing them; on by default. It changes no token, but the time
    /// of a request may tell that somebody else has sent the same beginning. Only where this crate's
    /// kernels compute, on the CPU and on GPUs, are there blocks that can be shared.
    pub fn with_prefix_cache(mut self, enabled: bool) -> Self {
        self.settings.engine.prefix_cache = enabled;
        self
    }

    /// Writes all that the engine is told, plans and computes, as JSON lines, after each step and in
    /// the model thread: `cargo xtask replay` repeats it. The tokens of all prompts and texts are
    /// in it. The record ends where the writer fails, or where the batch is lost to a panic.
    pub fn with_record(mut self, to: impl Write + Send + 'static) -> Self {
        self.settings.recorder = Recorder::new(to);
        self
    }

    /// Gives all sequences draft tokens, which change none of their tokens and may make them faster:
    /// see [`speculation`](crate::speculation).
    pub fn with_speculation(mut self, speculation: Speculation) -> Self {
        self.settings.speculation = Some(speculation);
        self
    }

    /// Starts the model thread.
    ///
    /// # Errors
    /// The system cannot start another thread.
    pub fn build<I, O, A>(
        self,
        handler: impl Handler<A, I, O, M, S>,
    ) -> Result<Inference<I, O, M, S>>
    where
        M: Borrow<Pretrained> + Send + Sync + 'static,
    {
        let (commands, received) = mpsc::channel();
        let model = Arc::new(self.model);
        let (shared, mut settings) = (model.clone(), self.settings);
        let Settings { max_waiting, max_paused, stream_capacity, engine, .. } = &mut settings;
        engine.max_admitted = engine.max_running.saturating_add(*max_paused);
        let (queue, stream_capacity) = (Semaphore::new(*max_waiting), *stream_capacity);
        let work = move || {
            let model: &M = &shared;
            Worker::new(model, model.borrow(), received, settings).run();
        };
        let thread = thread::Builder::new()
            .name("slowburn model".to_owned())
            .spawn(work)
            .map_err(ServiceError::Thread)?;
        Ok(Inference {
            model,
            commands,
            thread: Some(thread),
            handler: Box::new(move |context: &JobContext<I, O, M, S>| handler.call(context)),
            state: self.state,
            next_job: AtomicU64::new(0),
            queue,
            stream_capacity,
        })
    }
}
