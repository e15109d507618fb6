//! A handler's access to the model, which runs in its own thread.

use std::borrow::Borrow;
use std::ops::ControlFlow;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use super::callback::{Callback, OnEnd, OnPrefill, OnToken};
use super::model_thread::check_may_wait;
use super::worker::Command;
use super::{Completion, GenerateRequest, Load, Prefill};
use crate::constrained::Constraint;
use crate::error::{Error, Result, ServiceError};
use crate::generate::{Options, TokenOutput};
use crate::panics;
use crate::pretrained::Pretrained;
use crate::sampling::Rule;
use crate::sync::Mutex;
use crate::sync::mpsc::{self, Sender};

/// One job's handle to the model. `M` is the type given to the builder: a [`Pretrained`], or a type
/// that borrows as one.
pub struct ModelHandle<M> {
    pub(super) model: Arc<M>,
    pub(super) commands: Sender<Command<M>>,
    pub(super) started: StartedSequences,
    pub(super) submitted: Instant,
}

impl<M: Borrow<Pretrained>> ModelHandle<M> {
    /// Validates a request and tokenizes its prompt, in the calling thread.
    ///
    /// # Errors
    /// A field out of its range; a prompt that the model cannot continue; a logit bias for a token
    /// that is not in the vocabulary; a grammar that cannot be compiled; an adapter that is not there.
    pub fn prepare(&self, request: &GenerateRequest) -> Result<PreparedSequence> {
        request.validate()?;
        let pretrained: &Pretrained = (*self.model).borrow();
        let prompt = request.prompt.ids(pretrained)?;
        pretrained.model.check_prompt(&prompt)?;
        request.sampling.check_vocabulary(pretrained.model.config().vocab_size)?;
        let grammar = request.grammar.as_ref();
        let constraint = grammar.map(|grammar| pretrained.constraint(grammar)).transpose()?;
        let adapter = request.adapter.as_ref().map(|name| pretrained.adapters.get(name));
        let adapter = adapter.transpose()?;
        Ok(PreparedSequence {
            started: self.started.clone(),
            prompt,
            options: Options {
                max_tokens: request.max_tokens,
                sampling: request.sampling.clone(),
                ignore_eos: request.ignore_eos,
                constraint,
                reasoning: request.reasoning.clone(),
                adapter,
                logprobs: request.logprobs,
                prompt_logprobs: request.prompt_logprobs,
                stop_ids: request.stop_ids.clone(),
                ..Options::default()
            },
            stop: request.stop.clone(),
            deadline: request.deadline.and_then(|time| self.submitted.checked_add(time)),
            on_prefill: None,
            on_token: OnToken::new(Box::new(|_| ControlFlow::Continue(()))),
            on_end: None,
        })
    }
}

impl<M: Send + Sync + 'static> ModelHandle<M> {
    /// Runs `call` in the model thread between two steps, and waits for its result. The batch waits
    /// too. Each caller gets at most one call per step.
    ///
    /// # Errors
    /// A call that panics; an inference that was shut down; a callback that would wait for its own
    /// thread.
    pub fn submit<R: Send + 'static>(
        &self,
        call: impl FnOnce(&M) -> R + Send + 'static,
    ) -> Result<R> {
        ask(&self.commands, |model, _| call(model))
    }
}

/// As [`ModelHandle::submit`], for a call that also gets the load.
pub(super) fn ask<M, R: Send + 'static>(
    commands: &Sender<Command<M>>,
    call: impl FnOnce(&M, Load) -> R + Send + 'static,
) -> Result<R> {
    check_may_wait()?;
    let (answer, answered) = mpsc::sync_channel(1);
    let call = move |model: &M, load: Load| {
        // The caller may have gone.
        let _ = answer.send(panics::contain("a call to the model", || call(model, load)));
    };
    commands
        .send(Command::Ask(Callback::new(Box::new(call))))
        .map_err(|_| Error::Service(ServiceError::ShutDown))?;
    answered.recv().map_err(|_| Error::Service(ServiceError::ShutDown))?
}

/// A validated and tokenized sequence, not started yet.
pub struct PreparedSequence {
    started: StartedSequences,
    pub(super) prompt: Vec<u32>,
    pub(super) options: Options,
    pub(super) stop: Vec<String>,
    pub(super) deadline: Option<Instant>,
    pub(super) on_prefill: Option<OnPrefill>,
    pub(super) on_token: OnToken,
    pub(super) on_end: Option<OnEnd>,
}

/// The sequences that a handler has started; `None` once the handler has returned.
#[derive(Clone)]
pub(super) struct StartedSequences(Arc<Mutex<Option<Vec<PreparedSequence>>>>);

impl StartedSequences {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Some(Vec::new()))))
    }

    /// Takes all sequences, and refuses further ones.
    pub(super) fn close(&self) -> Vec<PreparedSequence> {
        let mut started = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        started.take().unwrap_or_default()
    }
}

impl PreparedSequence {
    /// The token ids of the prompt.
    pub fn prompt_ids(&self) -> &[u32] {
        &self.prompt
    }

    /// Which texts are allowed, compiled, in place of what
    /// [`GenerateRequest::grammar`](super::GenerateRequest::grammar) asks for. None changes nothing.
    pub fn with_constraint(mut self, constraint: Option<Constraint>) -> Self {
        self.options.constraint = constraint.or(self.options.constraint);
        self
    }

    /// Adds a rule to the sampler, as [`Sampler::with_rule`](crate::sampling::Sampler::with_rule) does. It runs in the model thread.
    pub fn with_rule(mut self, rule: Arc<Rule>) -> Self {
        self.options.rules.0.push(rule);
        self
    }

    /// Calls `on_prefill` when the prompt is read, before the first token, in the model thread. It
    /// is not called for a sequence that ends without a token.
    pub fn on_prefill(mut self, on_prefill: impl FnOnce(&Prefill) + Send + 'static) -> Self {
        self.on_prefill = Some(OnPrefill::new(Box::new(on_prefill)));
        self
    }

    /// Calls `on_end` when the sequence has ended and its last token was emitted, in the model
    /// thread: in a job of several sequences, the others may go on. It is not called once one of them
    /// has failed.
    pub fn on_end(mut self, on_end: impl FnOnce(&Completion) + Send + 'static) -> Self {
        self.on_end = Some(OnEnd::new(Box::new(on_end)));
        self
    }

    /// Enqueues the sequence once the handler returns. `on_token` is called with each token, in
    /// order, in the model thread, and blocks all other sequences. The sequence stops when
    /// `on_token` breaks.
    ///
    /// # Errors
    /// A handler that has returned already.
    pub fn start(
        mut self,
        on_token: impl FnMut(TokenOutput) -> ControlFlow<()> + Send + 'static,
    ) -> Result<()> {
        self.on_token = OnToken::new(Box::new(on_token));
        let started = self.started.0.clone();
        let mut started = started.lock().unwrap_or_else(PoisonError::into_inner);
        started.as_mut().ok_or(Error::Service(ServiceError::HandlerReturned))?.push(self);
        Ok(())
    }
}
