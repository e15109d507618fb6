//! Token counts and finish reasons.

use serde::Serialize;
use slowburn::inference::{FinishReason, Usage};
use utoipa::ToSchema;

/// The token counts of a request, summed over its choices. A prompt counts once, however many
/// choices go on from it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct WireUsage {
    pub prompt_tokens: usize,
    pub completion_tokens: usize,
    pub total_tokens: usize,
    pub prompt_tokens_details: PromptTokensDetails,
    /// Where the model thought, or read draft tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_tokens_details: Option<CompletionTokensDetails>,
}

/// More on the prompt's tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct PromptTokensDetails {
    /// Those that the prefix cache spared.
    pub cached_tokens: usize,
}

/// More on the tokens of the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct CompletionTokensDetails {
    /// Those of thoughts.
    pub reasoning_tokens: usize,
    /// Draft tokens that were accepted, and are in the text.
    pub accepted_prediction_tokens: usize,
    /// Draft tokens that were not.
    pub rejected_prediction_tokens: usize,
}

impl WireUsage {
    /// Adds the counts of one sequence. `is_first` says that its prompt has not been counted yet.
    pub(crate) fn add(&mut self, usage: &Usage, is_first: bool) {
        if is_first {
            self.prompt_tokens += usage.prompt_tokens;
            self.prompt_tokens_details.cached_tokens += usage.cached_tokens;
        }
        self.completion_tokens += usage.completion_tokens;
        if usage.drafted_tokens > 0 {
            let details = self.completion_tokens_details.get_or_insert_default();
            details.accepted_prediction_tokens += usage.accepted_tokens;
            details.rejected_prediction_tokens += usage.drafted_tokens - usage.accepted_tokens;
        }
        self.total_tokens = self.prompt_tokens + self.completion_tokens;
    }

    /// Adds the tokens of one sequence that were thoughts, and are among its tokens already.
    pub(crate) fn add_thoughts(&mut self, tokens: usize) {
        if tokens > 0 {
            self.completion_tokens_details.get_or_insert_default().reasoning_tokens += tokens;
        }
    }
}

/// Why a text ended, in OpenAI's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WireFinish {
    /// The model ended it, or a stop string or token did.
    Stop,
    /// It has as many tokens, or took as long, as it may.
    Length,
    /// It is done with its calls of tools.
    ToolCalls,
}

impl WireFinish {
    /// None where the server ended the sequence, which is an error.
    pub(crate) fn of(reason: &FinishReason) -> Option<Self> {
        match reason {
            FinishReason::Eos | FinishReason::StopId(_) | FinishReason::StopString(_) => {
                Some(WireFinish::Stop)
            }
            FinishReason::Length | FinishReason::Context | FinishReason::Deadline => {
                Some(WireFinish::Length)
            }
            FinishReason::Stopped | FinishReason::Cancelled | FinishReason::Shutdown => None,
        }
    }
}
