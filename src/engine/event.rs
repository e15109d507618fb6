//! What happens to the sequences of a scheduler between two steps.

use std::fmt;
use std::ops::Not;

use serde::{Deserialize, Serialize};

/// Identifies a sequence. Ids grow in the order of arrival, and none is used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SequenceId(pub u64);

impl fmt::Display for SequenceId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// What happens to a sequence between two steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A sequence arrives, and waits. Its id must be greater than all before.
    Arrive {
        id: SequenceId,
        /// The ids of the prompt, at least one.
        prompt: Vec<u32>,
        /// The most tokens that may follow the prompt.
        max_tokens: usize,
        /// The most prompt tokens that it reads in a step, at least 1, under
        /// [`Policy::ChunkedPrefill`](super::Policy).
        chunk: usize,
        /// Whether all logits of the prompt are wanted, not only the last. Its first tokens are
        /// then computed even if the prefix cache has them.
        #[serde(default, skip_serializing_if = "Not::not")]
        prompt_logits: bool,
    },
    /// The keys and values of a sequence that has just arrived depend on more than its tokens, such as on an
    /// adapter: it shares blocks only with sequences of the same salt.
    Salt { id: SequenceId, salt: u64 },
    /// A token was sampled from the logits of the last step. Where that step read draft tokens, one
    /// such event follows for each row of logits that counts.
    Token { id: SequenceId, token: u32 },
    /// A draft proposes the next tokens. The next decode of the sequence reads as many of them as
    /// there is room for, behind its last token. They are no tokens of the sequence until they are
    /// sampled too.
    Draft { id: SequenceId, tokens: Vec<u32> },
    /// The reader is behind: the sequence takes part in no step, and its blocks can be
    /// taken from it.
    Pause { id: SequenceId },
    /// The sequence waits for a step again, at its place in the order of arrival.
    Resume { id: SequenceId },
    /// The sequence has ended, for whatever reason.
    Leave { id: SequenceId },
}

impl Event {
    /// The sequence to which it happens.
    pub fn id(&self) -> SequenceId {
        match self {
            Self::Arrive { id, .. }
            | Self::Salt { id, .. }
            | Self::Token { id, .. }
            | Self::Draft { id, .. }
            | Self::Pause { id }
            | Self::Resume { id }
            | Self::Leave { id } => *id,
        }
    }
}
