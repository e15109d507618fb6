//! What a scheduler knows of a sequence.

use std::collections::VecDeque;
use std::ops::Range;

use crate::kv::{BlockManager, BlockTable, Extension, Memory};
use crate::model::Logits;

/// What a scheduler knows of a sequence.
#[derive(Debug, Default)]
pub(super) struct Sequence<M: Memory> {
    /// The prompt, and what was sampled.
    pub(super) tokens: Vec<u32>,
    pub(super) prompt: usize,
    /// The logits of the prompt are wanted from this position on: the length of the prompt if none
    /// are, or none any more.
    pub(super) scored: usize,
    /// The most tokens it may have.
    pub(super) max_length: usize,
    /// The most tokens that it reads in a step, while it has several to read.
    pub(super) chunk: usize,
    /// What its keys and values depend on, beside its tokens.
    pub(super) salt: u64,
    pub(super) table: BlockTable<M>,
    pub(super) state: State,
    /// Whether it was ever admitted.
    pub(super) was_admitted: bool,
    /// Whether any of its blocks holds what it computed itself, and not only what was shared.
    pub(super) has_computed: bool,
    /// How many prompt tokens were found in the prefix cache.
    pub(super) cached: usize,
    pub(super) preemptions: usize,
    /// The last step that it took part in, by the number of steps before.
    pub(super) last_step: u64,
    /// The draft tokens that may follow, none of which was computed.
    pub(super) draft: Vec<u32>,
    /// The draft tokens that were computed behind the positions of `table`, and were not compared yet
    /// with what is sampled.
    pub(super) unchecked: VecDeque<u32>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Waiting,
    Running,
    Paused,
}

impl<M: Memory> Sequence<M> {
    /// The number of tokens whose keys and values are missing.
    pub(super) fn unread(&self) -> usize {
        self.tokens.len() - self.table.length()
    }

    /// Whether it has read all tokens, and the next was not chosen yet.
    pub(super) fn awaits_token(&self) -> bool {
        self.unread() == 0
    }

    /// Whether it has read all tokens but the last.
    pub(super) fn decodes(&self) -> bool {
        self.decodes_after(self.table.length())
    }

    /// Whether it decodes where it has read so many tokens.
    pub(super) fn decodes_after(&self, read: usize) -> bool {
        self.tokens.len() - read == 1 && self.tokens.len() > self.prompt
    }

    /// Whether it may take blocks of the prefix cache. Their logits are not computed.
    pub(super) fn may_share(&self) -> bool {
        self.scored == self.prompt
    }

    /// Appends what the prefix cache has of its next tokens, if it may take that.
    pub(super) fn extend(&mut self, blocks: &mut BlockManager<M>) -> Extension {
        if self.may_share() {
            blocks.extend(&mut self.table, &self.tokens)
        } else {
            Extension::default()
        }
    }

    /// Which logits of its tokens at `positions` are wanted.
    pub(super) fn logits(&self, positions: &Range<usize>) -> Logits {
        if self.scored < self.prompt.min(positions.end) {
            Logits::All
        } else if positions.end == self.tokens.len() {
            Logits::Last
        } else {
            Logits::None
        }
    }
}
