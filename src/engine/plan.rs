//! The plan of a step.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::SequenceId;
use crate::model::Logits;

/// The plan of a step: which tokens of which sequences are computed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The tokens to compute: at most one chunk of each sequence.
    pub chunks: Vec<Chunk>,
    /// What was decided and why, in order.
    pub decisions: Vec<Decision>,
}

/// The tokens of one sequence in a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    pub id: SequenceId,
    /// Their positions in the sequence.
    pub positions: Range<usize>,
    /// How many of the last of these positions hold draft tokens.
    pub drafted: usize,
    /// Which of their logits are wanted: the last where it is that of the last token so far, all of a
    /// prompt whose logits were asked for, and all with draft tokens.
    pub logits: Logits,
}

/// A decision about one sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It runs from now on. So many of its tokens were found in the prefix cache or were kept.
    Admitted { id: SequenceId, cached: usize },
    /// It reads so many tokens from this position on.
    Prefill {
        id: SequenceId,
        start: usize,
        tokens: usize,
    },
    /// It reads its last token, and gets the next.
    Decode { id: SequenceId },
    /// With its last token it reads so many draft tokens, to get several tokens at once.
    Draft { id: SequenceId, tokens: usize },
    /// Deferred: the token budget is spent before its turn, so it reads nothing of its prompt in
    /// this step.
    OverBudget { id: SequenceId },
    /// Deferred: an earlier sequence computes its next block in the same step. It takes that block
    /// in the next step, instead of computing it too.
    Deferred { id: SequenceId },
    /// Deferred: no block is left for its next token, and no later sequence has any. It keeps its
    /// blocks, and waits for an earlier one to end.
    Stalled { id: SequenceId },
    /// Deferred: its next token is still being chosen, under a constraint and next to the steps.
    Choosing { id: SequenceId },
    /// Deferred: others take all slots in this step, some of which were admitted while tokens were
    /// being chosen. Those that have waited longest come next.
    NoSlot { id: SequenceId },
    /// Its blocks were taken from it, for an earlier sequence. So many tokens will be computed
    /// again.
    Preempted { id: SequenceId, tokens: usize },
}

impl Plan {
    /// The number of tokens that the step computes.
    pub fn tokens(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.positions.len()).sum()
    }
}

impl Decision {
    /// The sequence that it is about.
    pub fn id(&self) -> SequenceId {
        match self {
            Self::Admitted { id, .. }
            | Self::Prefill { id, .. }
            | Self::Decode { id }
            | Self::Draft { id, .. }
            | Self::OverBudget { id }
            | Self::Deferred { id }
            | Self::Stalled { id }
            | Self::Choosing { id }
            | Self::NoSlot { id }
            | Self::Preempted { id, .. } => *id,
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Admitted { id, cached: 0 } => write!(out, "{id} admitted"),
            Self::Admitted { id, cached } => {
                write!(out, "{id} admitted, {cached} tokens from the cache")
            }
            Self::Prefill { id, start, tokens } => {
                write!(out, "{id} prefill {start}..{}", start + tokens)
            }
            Self::Decode { id } => write!(out, "{id} decode"),
            Self::Draft { id, tokens } => write!(out, "{id} draft of {tokens}"),
            Self::OverBudget { id } => {
                write!(out, "{id} deferred: the token budget is spent")
            }
            Self::Deferred { id } => write!(out, "{id} deferred: its next block is being computed"),
            Self::Stalled { id } => write!(out, "{id} deferred: no block is left"),
            Self::Choosing { id } => write!(out, "{id} deferred: its next token is being chosen"),
            Self::NoSlot { id } => write!(out, "{id} deferred: no slot is left"),
            Self::Preempted { id, tokens } => {
                write!(out, "{id} preempted, {tokens} tokens to compute again")
            }
        }
    }
}
