//! The record of a run: all that an engine was told, planned and computed.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Decision, EngineConfig, Event, RecordedModel, SequenceId};

/// An entry of a record. The entries of a run, in order, are enough to run it again: tokens are
/// recorded, so no sampler is needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Entry {
    /// The first entry: the model, and the settings of the scheduler.
    Start {
        /// None in a record of a version that did not note it.
        #[serde(default)]
        model: Option<RecordedModel>,
        config: EngineConfig,
        block_size: usize,
        max_blocks: usize,
    },
    /// What happened between two steps.
    Event { event: Event },
    /// What a step decided.
    Step { decisions: Vec<Decision> },
    /// A sequence got logits: the first 16 hexadecimal digits of the SHA-256 of their bits. With draft
    /// tokens they are several rows, which have one hash.
    Logits { id: SequenceId, hash: String },
    /// A sequence got logits of its prompt, whose first row is the distribution of the token at
    /// `position`: the hash of all their bits, in the same form.
    PromptLogits {
        id: SequenceId,
        position: usize,
        hash: String,
    },
    /// A sequence failed, and has left.
    Failed { id: SequenceId },
    /// The device lost all keys and values, and every sequence is computed again.
    Lost,
    /// From now on there are so many blocks, since others that share the memory hold the rest. Of
    /// them `idle` can be had before the prefix caches of others give up any.
    Limit {
        blocks: usize,
        /// All, in a record of a version that did not note it.
        #[serde(default = "all")]
        idle: usize,
    },
    /// So many blocks were given up for others: of the prefix cache, and where `preempt` is true of
    /// sequences too.
    Lent { blocks: usize, preempt: bool },
    /// The last entry, after so many others. A record without it was cut.
    End { entries: usize },
}

/// Writes entries as JSON lines, which `cargo xtask replay` reads.
///
/// # Errors
/// Those of the writer.
pub fn write_record(entries: &[Entry], to: &mut dyn Write) -> io::Result<()> {
    for entry in entries {
        serde_json::to_writer(&mut *to, entry)?;
        to.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes the last line of a record of `entries` entries, by which a reader knows that it is whole.
///
/// # Errors
/// Those of the writer.
pub fn write_end(entries: usize, to: &mut dyn Write) -> io::Result<()> {
    write_record(&[Entry::End { entries }], to)
}

fn all() -> usize {
    usize::MAX
}

pub(super) fn hash_of<'a>(logits: impl IntoIterator<Item = &'a f32>) -> String {
    let mut hash = Sha256::new();
    logits.into_iter().for_each(|logit| hash.update(logit.to_le_bytes()));
    hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}
