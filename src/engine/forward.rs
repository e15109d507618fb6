//! What an engine computes with.

use std::sync::Arc;

use super::RecordedModel;
use crate::adapter::Adapter;
use crate::error::Result;
use crate::kv::{BlockTable, Memory, Pool};
use crate::model::{Logits, MostLikely};

/// A network that reads tokens after the keys and values of earlier ones.
pub trait Forward {
    /// What a block of keys and values is made of.
    type Memory: Memory;

    /// Where blocks come from.
    fn pool(&self) -> &Pool<Self::Memory>;

    /// Whether a sequence gets its blocks as it grows, and may share them. Otherwise it gets all that
    /// it may need when it is admitted.
    fn is_paged(&self) -> bool;

    /// How many positions the network reads of a sequence, up to the next one and with it, if no layer
    /// reads all of them.
    fn window(&self) -> Option<usize> {
        None
    }

    /// The most draft tokens that the network can take back, if it has layers that keep a state instead of keys
    /// and values.
    fn most_drafted(&self) -> Option<usize> {
        None
    }

    /// Checks that a generation could start from `prompt`.
    ///
    /// # Errors
    /// It could not.
    fn check_prompt(&self, prompt: &[u32]) -> Result<()>;

    /// Runs the network over all chunks in one pass, and returns the requested logits: a row of
    /// `[vocab]` for each token, in order. The tables have the blocks for these tokens.
    ///
    /// # Errors
    /// The pass has failed, and no table has changed.
    fn forward(&self, chunks: &mut [ChunkInput<Self::Memory>]) -> Result<Vec<Vec<f32>>>;

    /// As [`forward`](Self::forward), where the most likely token of each row is all that is wanted. None
    /// where that costs as much as the logits; then nothing was computed.
    fn most_likely(
        &self,
        _chunks: &mut [ChunkInput<Self::Memory>],
    ) -> Option<Result<Vec<MostLikely>>> {
        None
    }

    /// What a record says of the network.
    fn describe(&self) -> RecordedModel;
}

/// A chunk of a plan with what the network needs for it.
pub struct ChunkInput<M: Memory> {
    /// The new tokens.
    pub tokens: Vec<u32>,
    /// The keys and values of the tokens before them, to which theirs are appended.
    pub table: BlockTable<M>,
    /// What changes the network for this sequence.
    pub adapter: Option<Arc<Adapter>>,
    /// Which of their logits are wanted.
    pub logits: Logits,
}
