//! The sequences that a handler has started, before they are queued.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use super::callback::{OnEnd, OnPrefill, OnToken};
use crate::error::{Error, Result, ServiceError};
use crate::generate::Options;
use crate::sampling::Sampler;
use crate::sync::Mutex;

/// A validated and tokenized sequence, on its way to the model thread.
pub(super) struct NewSequence {
    pub(super) prompt: Vec<u32>,
    pub(super) options: Options,
    pub(super) sampler: Sampler,
    pub(super) stop: Vec<String>,
    pub(super) deadline: Option<Instant>,
    /// The sequence's token limit.
    pub(super) max_tokens: usize,
    pub(super) on_prefill: Option<OnPrefill>,
    pub(super) on_token: OnToken,
    pub(super) on_end: Option<OnEnd>,
}

/// The sequences that a handler has started; `None` once the handler has returned.
#[derive(Clone)]
pub(super) struct StartedSequences(Arc<Mutex<Option<Vec<NewSequence>>>>);

impl StartedSequences {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Some(Vec::new()))))
    }

    pub(super) fn push(&self, sequence: NewSequence) -> Result<()> {
        let mut started = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        started.as_mut().ok_or(Error::Service(ServiceError::HandlerReturned))?.push(sequence);
        Ok(())
    }

    /// Takes all sequences, and refuses further ones.
    pub(super) fn close(&self) -> Vec<NewSequence> {
        let mut started = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        started.take().unwrap_or_default()
    }
}
