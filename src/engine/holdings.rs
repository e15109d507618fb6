//! What an engine holds, and lends to others that share its pool.

use std::ops::Deref;
use std::sync::RwLockReadGuard;

use super::{Entry, Plan, Scheduler, SequenceId};
use crate::error::Error;
use crate::kv::{KvMemory, Lender, Turn};

/// What an engine holds between two steps. It takes memory only in a turn of the pool.
#[derive(Debug)]
pub(super) struct Holdings {
    pub(super) scheduler: Scheduler<KvMemory>,
    /// Whether a step computes with blocks of sequences.
    pub(super) computes: bool,
    /// What has happened, where it is recorded.
    pub(super) record: Option<Vec<Entry>>,
}

/// The scheduler of an engine, to look at. Blocks of the engine cannot be had meanwhile.
pub struct SchedulerRef<'a>(pub(super) RwLockReadGuard<'a, Holdings>);

impl Deref for SchedulerRef<'_> {
    type Target = Scheduler<KvMemory>;

    fn deref(&self) -> &Self::Target {
        &self.0.scheduler
    }
}

impl Holdings {
    /// How many blocks may hold something, and how many before other prefix caches give up any.
    fn limits(&self) -> (usize, usize) {
        let blocks = self.scheduler.blocks();
        (blocks.limit(), blocks.idle_limit())
    }

    pub(super) fn note(&mut self, entries: impl IntoIterator<Item = Entry>) {
        if let Some(record) = &mut self.record {
            record.extend(entries);
        }
    }

    /// Plans a step, with up to `most` blocks, and for draft tokens up to `most_idle`. Also returns the
    /// sequences for which the machine has no memory.
    pub(super) fn plan(
        &mut self,
        turn: &Turn<'_, KvMemory>,
        (most, most_idle): (usize, usize),
    ) -> (Plan, Vec<(SequenceId, Error)>) {
        let before = self.limits();
        let held = self.scheduler.blocks().held();
        self.scheduler.set_limit(turn.limit(held).min(most));
        self.scheduler.blocks.set_idle_limit(turn.idle_limit(held).min(most_idle));
        let (blocks, idle) = self.limits();
        if (blocks, idle) != before {
            self.note([Entry::Limit { blocks, idle }]);
        }
        let planned = self.scheduler.plan_in(turn);
        if self.record.is_some() {
            self.note([Entry::Step { decisions: planned.0.decisions.clone() }]);
        }
        planned
    }
}

impl Lender for Holdings {
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
