//! What the thread of the model is asked to do.

use std::sync::mpsc::SyncSender;

use super::Load;
use super::callback::Call;
use super::job::JobId;
use super::waiting::WaitingSequence;

/// What the thread is asked to do.
pub(super) enum Command<M> {
    /// Take in the sequences of a job.
    Run(Vec<WaitingSequence>),
    /// Answer, between two steps.
    Ask(Question<M>),
    /// Look again at a job: it was cancelled, or its reader has caught up.
    LookAt(JobId),
    /// End everything, and return.
    ShutDown,
}

/// What somebody waits for an answer to.
pub(super) enum Question<M> {
    /// Do something else with the model.
    Call(Call<M>),
    /// Tell how much there is to do.
    Load(SyncSender<Load>),
}
