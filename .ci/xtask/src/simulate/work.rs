//! The work of a step.

use slowburn::engine::Chunk;

/// How much a step computes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Prompt tokens, and tokens that are computed again after a preemption.
    pub prefill: u64,
    /// The positions that these attend to, summed over them.
    pub prefill_positions: u64,
    /// Tokens that were sampled in the step before.
    pub decode: u64,
    /// The positions that these attend to, summed over them.
    pub decode_positions: u64,
}

impl Work {
    /// The work of the first pass over a prompt.
    #[cfg(test)]
    pub fn prompt(tokens: usize) -> Self {
        let mut work = Self::default();
        work.add(0, tokens, tokens);
        work
    }

    /// The work of the chunks of a plan. `prompt` returns the prompt length of the sequence of a
    /// chunk.
    pub fn of(chunks: &[Chunk], prompt: impl Fn(&Chunk) -> usize) -> Self {
        let mut work = Self::default();
        for chunk in chunks {
            work.add(chunk.positions.start, chunk.positions.len(), prompt(chunk));
        }
        work
    }

    /// Adds `new` tokens after `before` of a sequence whose prompt has `prompt` tokens.
    pub fn add(&mut self, before: usize, new: usize, prompt: usize) {
        let (before, tokens) = (before as u64, new as u64);
        // Each token attends to all before it and to itself.
        let positions = tokens * before + tokens * (tokens + 1) / 2;
        if new == 1 && before >= prompt as u64 {
            self.decode += tokens;
            self.decode_positions += positions;
        } else {
            self.prefill += tokens;
            self.prefill_positions += positions;
        }
    }
}

#[cfg(test)]
mod tests {
    use slowburn::engine::SequenceId;
    use slowburn::model::Logits;

    use super::*;

    #[test]
    fn every_token_attends_to_all_before_it_and_to_itself() {
        let chunk = |positions| Chunk {
            id: SequenceId(0),
            positions,
            drafted: 0,
            logits: Logits::Last,
        };
        // Prompts of 4: the first three tokens, the last one, a decode, and what was preempted.
        let work = |positions| Work::of(&[chunk(positions)], |_| 4);
        assert_eq!(work(0..3), Work { prefill: 3, prefill_positions: 6, ..Work::default() });
        assert_eq!(work(3..4), Work { prefill: 1, prefill_positions: 4, ..Work::default() });
        assert_eq!(work(9..10), Work { decode: 1, decode_positions: 10, ..Work::default() });
        assert_eq!(work(3..6), Work { prefill: 3, prefill_positions: 15, ..Work::default() });
    }
}
