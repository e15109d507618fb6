//! Why a generation ended.

use serde::Serialize;

/// Why a generation ended, without an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model chose an end-of-sequence token, or the constraint allows nothing else.
    Eos,
    /// The model chose one of the request's stop ids.
    StopId(u32),
    /// The model generated one of the request's stop strings.
    StopString(String),
    /// The output has the requested number of tokens.
    Length,
    /// Prompt and output fill the context.
    Context,
    /// The token callback asked to stop.
    Stopped,
    /// The request's deadline has passed.
    Deadline,
    /// The job was cancelled or dropped.
    Cancelled,
    /// The inference was shut down.
    Shutdown,
}
