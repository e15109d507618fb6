//! The record of a run: all that an engine was told, planned and computed.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Decision, EngineConfig, Event, SequenceId};

/// An entry of a record. The entries of a run, in order, are enough to run it again: tokens are
/// recorded, so no sampler is needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Entry {
    /// The first entry: the settings of the scheduler.
    Start {
        config: EngineConfig,
        block_size: usize,
        max_blocks: usize,
    },
    /// What happened between two steps.
    Event { event: Event },
    /// What a step decided.
    Step { decisions: Vec<Decision> },
    /// A sequence got logits: the first 16 hexadecimal digits of the SHA-256 of their bits.
    Logits { id: SequenceId, hash: String },
    /// A sequence failed, and has left.
    Failed { id: SequenceId },
    /// The device lost all keys and values, and every sequence is computed again.
    Lost,
}

impl Entry {
    /// The entry of these logits, `[vocab]`.
    pub(super) fn logits(id: SequenceId, logits: &[f32]) -> Self {
        let mut hash = Sha256::new();
        logits.iter().for_each(|logit| hash.update(logit.to_le_bytes()));
        let hash = hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        Self::Logits { id, hash }
    }
}
