//! What a pass computes: rows of logits, or only the most likely token by each.

use super::super::{Chunk, ChunkInput, Forward};
use super::Engine;
use crate::error::Result;
use crate::model::{Logits, MostLikely};

/// What a pass computed of the tokens whose logits were wanted, in order.
pub(super) enum Rows {
    /// `[vocab]` each.
    Logits(Vec<Vec<f32>>),
    MostLikely(Vec<MostLikely>),
}

impl<F: Forward> Engine<'_, F> {
    pub(super) fn compute(
        &self,
        chunks: &[Chunk],
        inputs: &mut [ChunkInput<F::Memory>],
    ) -> Result<Rows> {
        if self.wants_tokens_only(chunks)
            && let Some(tokens) = self.model.most_likely(inputs)
        {
            return tokens.map(Rows::MostLikely);
        }
        self.model.forward(inputs).map(Rows::Logits)
    }

    /// Whether nobody looks at the logits of these chunks: no record is kept, and each that has some
    /// belongs to a greedy sequence without draft tokens.
    fn wants_tokens_only(&self, chunks: &[Chunk]) -> bool {
        let is_one = |chunk: &Chunk| chunk.logits == Logits::Last && chunk.drafted == 0;
        let is_greedy = |chunk: &Chunk| is_one(chunk) && self.greedy.contains(&chunk.id);
        chunks.iter().all(|chunk| chunk.logits == Logits::None || is_greedy(chunk))
            && self.scheduler().0.record.is_none()
    }
}
