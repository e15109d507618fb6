//! What an engine holds, and lends to others that share its pool.

use std::ops::Deref;
use std::sync::RwLockReadGuard;

use super::{Entry, Plan, Scheduler, SequenceId};
use crate::error::Error;
use crate::kv::{KvMemory, Lender, Memory, Turn};

/// What an engine holds between two steps. It takes memory only in a turn of the pool.
#[derive(Debug)]
pub(super) struct Holdings<M: Memory> {
    pub(super) scheduler: Scheduler<M>,
    /// Whether a step computes with blocks of sequences.
    pub(super) computes: bool,
    /// What has happened, where it is recorded.
    pub(super) record: Option<Vec<Entry>>,
}

/// The scheduler of an engine, to look at. Blocks of the engine cannot be had meanwhile.
pub struct SchedulerRef<'a, M: Memory = KvMemory>(pub(super) RwLockReadGuard<'a, Holdings<M>>);

impl<M: Memory> Deref for SchedulerRef<'_, M> {
    type Target = Scheduler<M>;

    fn deref(&self) -> &Scheduler<M> {
        &self.0.scheduler
    }
}

impl<M: Memory> Holdings<M> {
    pub(super) fn note(&mut self, entries: impl IntoIterator<Item = Entry>) {
        if let Some(record) = &mut self.record {
            record.extend(entries);
        }
    }

    /// Plans a step, with up to `most` blocks. Also returns the sequences for which the machine has
    /// no memory.
    pub(super) fn plan(
        &mut self,
        turn: &Turn<'_, M>,
        most: usize,
    ) -> (Plan, Vec<(SequenceId, Error)>) {
        let before = self.scheduler.blocks().limit();
        self.scheduler.set_limit(turn.limit(self.scheduler.blocks().held()).min(most));
        let blocks = self.scheduler.blocks().limit();
        if blocks != before {
            self.note([Entry::Limit { blocks }]);
        }
        let planned = self.scheduler.plan_in(turn);
        if self.record.is_some() {
            self.note([Entry::Step { decisions: planned.0.decisions.clone() }]);
        }
        planned
    }
}

impl<M: Memory> Lender for Holdings<M> {
    fn evictable(&self) -> usize {
        self.scheduler.blocks().evictable()
    }

    fn computes(&self) -> bool {
        self.computes
    }

    fn lend(&mut self, blocks: usize, preempt: bool) {
        self.scheduler.lend(blocks, preempt);
        self.note([Entry::Lent { blocks, preempt }]);
    }
}
