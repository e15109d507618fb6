//! A handler's access to the model, which runs in its own thread.

use std::borrow::Borrow;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use super::callback::{OnEnd, OnPrefill, OnToken, Once};
use super::command::{Command, Question};
use super::model_thread::check_may_wait;
use super::started::{NewSequence, StartedSequences};
use super::{Completion, GenerateRequest, Prefill};
use crate::constrained::Constraint;
use crate::error::{Error, Result, ServiceError};
use crate::generate::token_limit::TokenLimit;
use crate::generate::{Options, TokenOutput};
use crate::panics;
use crate::pretrained::Pretrained;
use crate::sampling::{Rule, Sampler};
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
        let limit = TokenLimit::new(&pretrained.model, &prompt, request.max_tokens)?;
        request.sampling.check_vocabulary(pretrained.model.config().vocab_size)?;
        let grammar = request.grammar.as_ref();
        let constraint = grammar.map(|grammar| pretrained.constraint(grammar)).transpose()?;
        let adapter = request.adapter.as_ref().map(|name| pretrained.adapters.get(name));
        let adapter = adapter.transpose()?;
        let sequence = NewSequence {
            max_tokens: limit.left,
            prompt,
            options: Options { constraint, adapter, ..request.options() },
            sampler: Sampler::new(&request.sampling)?,
            stop: request.stop.clone(),
            deadline: request.deadline.and_then(|time| self.submitted.checked_add(time)),
            on_prefill: None,
            on_token: OnToken::new(Box::new(|_| ControlFlow::Continue(()))),
            on_end: None,
        };
        Ok(PreparedSequence { started: self.started.clone(), sequence })
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
        submit(&self.commands, call)
    }
}

/// As [`ModelHandle::submit`].
pub(super) fn submit<M, R: Send + 'static>(
    commands: &Sender<Command<M>>,
    call: impl FnOnce(&M) -> R + Send + 'static,
) -> Result<R> {
    check_may_wait()?;
    let (answer, answered) = mpsc::sync_channel(1);
    let call = move |model: &M| {
        // The caller may have gone.
        let _ = answer.send(panics::contain("a call to the model", || call(model)));
    };
    let question = Question::Call(Once::<M>::new(Box::new(call)));
    commands
        .send(Command::Ask(question))
        .map_err(|_| Error::Service(ServiceError::ShutDown))?;
    answered.recv().map_err(|_| Error::Service(ServiceError::ShutDown))?
}

/// A validated and tokenized sequence, not started yet.
pub struct PreparedSequence {
    started: StartedSequences,
    sequence: NewSequence,
}

impl PreparedSequence {
    /// The token ids of the prompt.
    pub fn prompt_ids(&self) -> &[u32] {
        &self.sequence.prompt
    }

    /// Which texts are allowed, compiled, in place of what
    /// [`GenerateRequest::grammar`](super::GenerateRequest::grammar) asks for. None changes nothing.
    pub fn with_constraint(mut self, constraint: Option<Constraint>) -> Self {
        self.sequence.options.constraint = constraint.or(self.sequence.options.constraint);
        self
    }

    /// Adds a rule to the sampler, as [`Sampler::with_rule`] does. It runs in the model thread.
    pub fn with_rule(mut self, rule: Arc<Rule>) -> Self {
        self.sequence.sampler = self.sequence.sampler.with_rule(rule);
        self
    }

    /// Calls `on_prefill` when the prompt is read, before the first token, in the model thread. It
    /// is not called for a sequence that ends without a token.
    pub fn on_prefill(mut self, on_prefill: impl FnOnce(&Prefill) + Send + 'static) -> Self {
        self.sequence.on_prefill = Some(OnPrefill::new(Box::new(on_prefill)));
        self
    }

    /// Calls `on_end` when the sequence has ended and its last token was emitted, in the model
    /// thread: in a job of several sequences, the others may go on. It is not called once one of them
    /// has failed.
    pub fn on_end(mut self, on_end: impl FnOnce(&Completion) + Send + 'static) -> Self {
        self.sequence.on_end = Some(OnEnd::new(Box::new(on_end)));
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
        self.sequence.on_token = OnToken::new(Box::new(on_token));
        self.started.push(self.sequence)
    }
}
