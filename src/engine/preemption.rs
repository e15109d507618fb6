//! How a scheduler takes blocks from sequences: for earlier ones, and for others that share the pool.

use super::scheduler::Scheduler;
use super::sequence::State;
use super::{Decision, SequenceId};
use crate::kv::{BlockTable, Memory};

impl<M: Memory> Scheduler<M> {
    /// Why the last plan computes nothing: the sequence that comes first, and how many blocks must be
    /// free for it, some of which [others hold](Self::set_limit).
    pub fn shortage(&self) -> Option<(SequenceId, usize)> {
        self.shortage
    }

    /// Says how many of the blocks these sequences and their prefix cache may hold, since others
    /// need the rest: as many as they hold now, at least.
    pub fn set_limit(&mut self, blocks: usize) {
        self.blocks.set_limit(blocks);
    }

    /// Gives up `blocks` blocks for others: those of the prefix cache, and then, if it must be, those
    /// of sequences, the latest first. The next plan says who was preempted.
    pub fn lend(&mut self, blocks: usize, preempt: bool) {
        let held = self.blocks.held().saturating_sub(blocks);
        let mut decisions = Vec::new();
        self.blocks.evict_to(held);
        while preempt && self.blocks.held() > held {
            let holds_blocks = |id: &SequenceId| !self.sequences[id].table.blocks().is_empty();
            if let Some(parked) = self.parked.last().copied() {
                decisions.extend(self.take_blocks(parked));
            } else if let Some(last) = self.running.iter().rev().copied().find(holds_blocks) {
                decisions.extend(self.preempt(last));
            } else {
                break;
            }
            self.blocks.evict_to(held);
        }
        self.lent.extend(decisions);
    }

    /// Takes all blocks from all sequences, and empties the prefix cache: what the blocks held is
    /// lost. Every sequence waits, and will be computed again.
    pub fn forget_blocks(&mut self) {
        self.blocks.clear();
        for (&id, sequence) in &mut self.sequences {
            sequence.table = BlockTable::salted(sequence.salt);
            sequence.unchecked.clear();
            sequence.has_computed = false;
            if sequence.state == State::Running {
                sequence.state = State::Waiting;
                self.waiting.insert(id);
            }
        }
        self.running.clear();
        self.parked.clear();
    }

    /// Takes the blocks of a running sequence, which waits again at its old place.
    pub(super) fn preempt(&mut self, id: SequenceId) -> Option<Decision> {
        if let Some(sequence) = self.sequences.get_mut(&id) {
            sequence.has_computed = true; // it counts, whatever it has done so far
        }
        let preempted = self.take_blocks(id);
        self.set_state(id, State::Waiting);
        preempted
    }

    /// Takes all blocks of a sequence. One that has only shared blocks loses no work.
    pub(super) fn take_blocks(&mut self, id: SequenceId) -> Option<Decision> {
        self.parked.remove(&id);
        let sequence = self.sequences.get_mut(&id)?;
        let tokens = sequence.table.length();
        sequence.unchecked.clear();
        self.blocks.release(&mut sequence.table);
        if !std::mem::take(&mut sequence.has_computed) {
            return None;
        }
        sequence.preemptions += 1;
        self.stats.preemptions += 1;
        Some(Decision::Preempted { id, tokens })
    }

    /// The latest sequence that holds blocks without running.
    pub(super) fn last_parked_except(&self, id: SequenceId) -> Option<SequenceId> {
        self.parked.iter().rev().copied().find(|&parked| parked != id)
    }
}
