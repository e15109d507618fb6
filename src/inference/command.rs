//! The commands that the model thread receives.

use std::sync::Arc;

use super::callback::Once;
use super::job::{JobId, RunningJob};
use super::permits::Permit;
use super::{Load, PreparedSequence};
use crate::sync::mpsc::SyncSender;

/// A command to the model thread.
pub(super) enum Command<M> {
    /// Enqueue the sequences of a job, each with its slot in the queue.
    Run(Arc<RunningJob>, Vec<(PreparedSequence, Permit)>),
    /// Answer, between two steps.
    Ask(Question<M>),
    /// Check a job again: it was cancelled, or its reader has caught up.
    LookAt(JobId),
    /// End all jobs and return.
    ShutDown,
}

/// A command whose sender blocks for an answer.
pub(super) enum Question<M> {
    /// Run a function on the model.
    Call(Once<M>),
    /// Report the current load.
    Load(SyncSender<Load>),
}
