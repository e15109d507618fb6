//! How a handler reaches the model, which lives in a thread of its own.

use std::borrow::Borrow;
use std::ops::ControlFlow;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::GenerateRequest;
use super::worker::{Command, check_may_wait};
use crate::error::{Error, Result};
use crate::generate::{Options, TokenOutput};
use crate::panics;
use crate::pretrained::Pretrained;
use crate::sampling::{Rule, Sampler};

/// What a handler does with each token.
pub(super) type OnToken = Box<dyn FnMut(TokenOutput) -> ControlFlow<()> + Send>;

/// A sequence that is to join the batch.
pub(super) struct Start {
    pub(super) prompt: Vec<u32>,
    pub(super) options: Options,
    pub(super) sampler: Sampler,
    pub(super) stop: Vec<String>,
    pub(super) deadline: Option<Instant>,
    /// How many tokens there can be.
    pub(super) room: usize,
    pub(super) on_token: OnToken,
}

/// The sequences that a handler has started; none once it has returned.
#[derive(Clone)]
pub(super) struct Starts(Arc<Mutex<Option<Vec<Start>>>>);

impl Starts {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Some(Vec::new()))))
    }

    fn push(&self, start: Start) -> Result<()> {
        let mut starts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        starts.as_mut().ok_or(Error::HandlerReturned)?.push(start);
        Ok(())
    }

    /// Takes all of them; no more may come.
    pub(super) fn close(&self) -> Vec<Start> {
        let mut starts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        starts.take().unwrap_or_default()
    }
}

/// The way to the model for one job. `M` is what the inference was built with: a
/// [`Pretrained`], or something that holds one.
pub struct ModelAccessor<M> {
    pub(super) model: Arc<M>,
    pub(super) commands: Sender<Command<M>>,
    pub(super) starts: Starts,
    pub(super) submitted: Instant,
}

impl<M: Borrow<Pretrained>> ModelAccessor<M> {
    /// Checks a request and turns its prompt into token ids, in the calling thread.
    ///
    /// # Errors
    /// A field out of its range; a prompt that the model cannot start from.
    pub fn prepare(&self, request: &GenerateRequest) -> Result<Prepared> {
        request.validate()?;
        let pretrained: &Pretrained = (*self.model).borrow();
        let prompt = request.prompt.ids(pretrained)?;
        pretrained.model.check_prompt(&prompt)?;
        let left = pretrained.model.config().context_length - prompt.len();
        Ok(Prepared {
            starts: self.starts.clone(),
            room: request.max_tokens.min(left),
            prompt,
            options: request.options(),
            sampler: Sampler::new(&request.sampling)?,
            stop: request.stop.clone(),
            deadline: request.deadline.and_then(|time| self.submitted.checked_add(time)),
        })
    }
}

impl<M: Send + Sync + 'static> ModelAccessor<M> {
    /// Runs `call` in the model thread, between two steps of the batch, and waits for what it
    /// returns. The batch waits too.
    ///
    /// # Errors
    /// A call that panics; an inference that was shut down; a callback that would wait for its
    /// own thread.
    pub fn submit<R: Send + 'static>(
        &self,
        call: impl FnOnce(&M) -> R + Send + 'static,
    ) -> Result<R> {
        submit(&self.commands, call)
    }
}

/// As [`ModelAccessor::submit`].
pub(super) fn submit<M, R: Send + 'static>(
    commands: &Sender<Command<M>>,
    call: impl FnOnce(&M) -> R + Send + 'static,
) -> Result<R> {
    check_may_wait()?;
    let (answer, answered) = mpsc::sync_channel(1);
    let call = move |model: &M| {
        // Whoever asked may have gone.
        let _ = answer.send(panics::contain("a call to the model", || call(model)));
    };
    commands.send(Command::Call(Box::new(call))).map_err(|_| Error::ShutDown)?;
    answered.recv().map_err(|_| Error::ShutDown)?
}

/// A sequence that has not been started yet.
pub struct Prepared {
    starts: Starts,
    prompt: Vec<u32>,
    options: Options,
    sampler: Sampler,
    stop: Vec<String>,
    deadline: Option<Instant>,
    room: usize,
}

impl Prepared {
    /// The ids of the prompt.
    pub fn prompt_ids(&self) -> &[u32] {
        &self.prompt
    }

    /// Adds a rule to the sampler, as [`Sampler::with_rule`] does. It runs in the model thread.
    pub fn with_rule(mut self, rule: Arc<Rule>) -> Self {
        self.sampler = self.sampler.with_rule(rule);
        self
    }

    /// Lets the sequence join the running batch as soon as the handler has returned. `on_token`
    /// is called with each token, in order, in the model thread, for which all other sequences
    /// wait meanwhile. The sequence stops when it breaks.
    ///
    /// # Errors
    /// A handler that has returned already.
    pub fn start(
        self,
        on_token: impl FnMut(TokenOutput) -> ControlFlow<()> + Send + 'static,
    ) -> Result<()> {
        self.starts.push(Start {
            prompt: self.prompt,
            options: self.options,
            sampler: self.sampler,
            stop: self.stop,
            deadline: self.deadline,
            room: self.room,
            on_token: Box::new(on_token),
        })
    }
}
