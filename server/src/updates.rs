//! A request's way through the model, as its route sees it.

use std::sync::atomic::Ordering;

use futures_util::StreamExt;
use slowburn::constrained::Constraint;
use slowburn::error::{Error, ServiceError};
use slowburn::inference::{Completion, FinishReason, GenerateRequest, Job, Prefill, TokenOutput};

use super::deadline;
use super::error::ApiError;
use super::metrics::RequestMetrics;
use super::service::{Sequences, Service};
use super::state::App;

/// What happened to one sequence of a request.
#[derive(Debug, Clone)]
pub(super) enum Update {
    /// Its prompt is read: its first token comes next.
    Prompt(Prefill),
    Token(TokenOutput),
    End(Completion),
}

/// The tokens and ends of all sequences of a request, in the order of their steps. Dropping it, as
/// when the client goes away, cancels the request before the next step.
pub(super) struct Updates {
    app: App,
    job: Option<Job<(usize, Update)>>,
    /// The first update, which was waited for.
    first: Option<(usize, Update)>,
    has_grammar: bool,
    metrics: RequestMetrics,
}

impl Updates {
    // ANCHOR: start
    /// Queues the sequences of a request, all or none, and waits for the first token, so that
    /// whatever is wrong until then can be answered with a status of its own. They have the time that is
    /// left of the request's.
    pub(super) async fn start(
        app: &App,
        service: &Service,
        mut sequences: Vec<GenerateRequest>,
        constraint: Option<Constraint>,
    ) -> Result<Self, ApiError> {
        if app.settings().log_prompts {
            sequences.iter().for_each(|sequence| service.log_prompt(sequence));
        }
        let left = deadline::left(app.settings().request_timeout.0);
        sequences.iter_mut().for_each(|sequence| sequence.deadline = Some(left));
        let has_grammar = constraint.is_some();
        if has_grammar {
            service.has_used_grammar.store(true, Ordering::Relaxed);
        }
        let metrics = RequestMetrics::start(app.metrics().clone(), sequences.len());
        let sequences = Sequences { requests: sequences.into(), constraint };
        // The prompts are token ids already, so this does not keep the thread.
        let job = service.inference.infer(sequences).spawn();
        let mut updates = Self {
            app: app.clone(),
            job: Some(job),
            first: None,
            has_grammar,
            metrics,
        };
        updates.first = updates.next().await?;
        Ok(updates)
    }
    // ANCHOR_END: start

    // ANCHOR: next
    /// The next update; none when all sequences have ended.
    pub(super) async fn next(&mut self) -> Result<Option<(usize, Update)>, ApiError> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        let Some(job) = &mut self.job else {
            return Ok(None);
        };
        let Some((index, update)) = job.stream.next().await else {
            // The stream has ended, so nothing blocks here.
            let outcome = self.job.take().map(Job::join_all).transpose();
            return outcome.map(|_| None).map_err(|error| self.refuse(error));
        };
        match &update {
            Update::Prompt(prefill) => self.metrics.prefill(index, prefill),
            Update::Token(_) => self.metrics.token(index),
            Update::End(completion) => {
                self.metrics.end(index, completion);
                self.app.queue_wait().ended(completion);
                self.check_end(completion)?;
            }
        }
        Ok(Some((index, update)))
    }
    // ANCHOR_END: next

    /// The response to a job that has failed.
    fn refuse(&mut self, error: Error) -> ApiError {
        self.metrics.fail(&error);
        match error {
            Error::Service(ServiceError::QueueFull { waiting, .. }) => {
                ApiError::from(error).with_retry_after(self.app.queue_wait().of(waiting))
            }
            error => error.into(),
        }
    }

    /// An end that is an error of the request.
    fn check_end(&mut self, completion: &Completion) -> Result<(), ApiError> {
        let nothing = completion.usage.completion_tokens == 0;
        match completion.finish_reason {
            FinishReason::Shutdown => Err(ApiError::shutting_down()),
            FinishReason::Deadline if nothing => {
                Err(ApiError::deadline(self.app.settings().request_timeout.0, self.has_grammar))
            }
            _ => Ok(()),
        }
    }
}
