//! Why a sequence ended.

use serde::Serialize;

use crate::generate;

/// Why a sequence ended, without an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model chose an end-of-sequence token.
    Eos,
    /// The model chose one of the request's stop ids.
    StopId(u32),
    /// The text came to one of the request's stop strings.
    StopString(String),
    /// As many tokens as were asked for.
    Length,
    /// Prompt and output fill the context.
    Context,
    /// The handler asked to stop.
    Stopped,
    /// The request's time is over.
    Deadline,
    /// The job was cancelled or dropped.
    Cancelled,
    /// The inference was shut down.
    Shutdown,
}

impl From<generate::FinishReason> for FinishReason {
    fn from(reason: generate::FinishReason) -> Self {
        match reason {
            generate::FinishReason::Eos => FinishReason::Eos,
            generate::FinishReason::StopId(id) => FinishReason::StopId(id),
            generate::FinishReason::Length => FinishReason::Length,
            generate::FinishReason::Context => FinishReason::Context,
            generate::FinishReason::Stopped => FinishReason::Stopped,
        }
    }
}
