//! What a step did for each sequence.

use super::{Chunk, Scheduler, SequenceId};
use crate::error::Error;
use crate::kv::Memory;
use crate::model::{Logits, MostLikely};

/// What a step did for one sequence.
#[derive(Debug)]
pub enum Outcome {
    /// The logits of the next token, `[vocab]`.
    Logits(Vec<f32>),
    /// As `Logits`, but only the most likely token by them: see
    /// [`Engine::set_greedy`](super::Engine::set_greedy).
    MostLikely(MostLikely),
    /// The logits after the last token and after each draft token behind it, `[vocab]` each: one row
    /// more than there are draft tokens. A row counts where all draft tokens before it are what was
    /// sampled from the rows before.
    Checked {
        draft: Vec<u32>,
        rows: Vec<Vec<f32>>,
    },
    /// Logits of prompt tokens, `[vocab]` each: the first row is the distribution of the token at
    /// `position`, and so on. They come in order, each once, for all tokens of the prompt but the
    /// first, whatever was computed again.
    PromptLogits {
        position: usize,
        rows: Vec<Vec<f32>>,
    },
    /// The sequence failed, and has left.
    Failed(Error),
}

/// Hands out the most likely tokens of a pass: one for each chunk that asks for its last logits.
pub(super) fn tokens(chunks: &[Chunk], tokens: Vec<MostLikely>) -> Vec<(SequenceId, Outcome)> {
    let ids = chunks.iter().filter(|chunk| chunk.logits == Logits::Last).map(|chunk| chunk.id);
    ids.zip(tokens.into_iter().map(Outcome::MostLikely)).collect()
}

/// Hands out the rows of a pass, `[vocab]` each.
pub(super) fn outcomes<M: Memory>(
    scheduler: &Scheduler<M>,
    chunks: &[Chunk],
    rows: Vec<Vec<f32>>,
) -> Vec<(SequenceId, Outcome)> {
    let mut outcomes = Vec::new();
    let mut rows = rows.into_iter();
    for chunk in chunks {
        let Chunk { id, positions, drafted, logits } = chunk;
        let count = match logits {
            Logits::None => 0,
            Logits::Last => 1,
            Logits::All => positions.len(),
        };
        let mut own: Vec<_> = rows.by_ref().take(count).collect();
        if *drafted > 0 {
            let draft = scheduler.tokens_of(chunk).split_off(positions.len() - drafted);
            outcomes.push((*id, Outcome::Checked { draft, rows: own }));
            continue;
        }
        let is_last = positions.end == scheduler.tokens(*id).len();
        let next = own.pop_if(|_| is_last);
        let wanted = scheduler.to_score(chunk);
        let known = wanted.start - positions.start;
        let rows: Vec<_> = own.into_iter().skip(known).take(wanted.len()).collect();
        if !rows.is_empty() {
            let position = wanted.start + 1;
            outcomes.push((*id, Outcome::PromptLogits { position, rows }));
        }
        outcomes.extend(next.map(|logits| (*id, Outcome::Logits(logits))));
    }
    outcomes
}
