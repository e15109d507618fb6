//! Turns: who may take memory from a pool, and from whom.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, MutexGuard, RwLock, Weak};
use std::thread;
use std::time::Duration;

use super::block::Memory;
use super::pool::{Demand, Pool, Taken};
use crate::error::Result;

/// An engine as the others see it that need memory: what it does not compute with can be had.
pub(crate) trait Lender: Debug + Send + Sync {
    /// The number of blocks that only its prefix cache holds.
    fn evictable(&self) -> usize;

    /// Whether a step computes with blocks of its sequences, which cannot be had meanwhile.
    fn computes(&self) -> bool;

    /// Gives back up to `blocks` blocks: those of its prefix cache, and where `preempt` is true those
    /// of sequences too, which it computes again later.
    fn lend(&mut self, blocks: usize, preempt: bool);
}

/// Identifies a lender of a pool. Those that came later give way to those that came earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LenderId(u64);

/// The lenders of a pool.
#[derive(Debug, Default)]
pub(super) struct Lenders {
    all: BTreeMap<LenderId, Weak<RwLock<dyn Lender>>>,
    next: u64,
}

/// The right to take memory from a pool. Only one has it at a time, so what was free stays so during
/// a turn. Who gives memory back needs no turn.
pub(crate) struct Turn<'a, M: Memory> {
    pool: &'a Pool<M>,
    lenders: MutexGuard<'a, Lenders>,
    /// The engine whose turn it is. None for a KV cache that belongs to no engine.
    engine: Option<LenderId>,
}

/// How often to pause for a lender that computes, or that a thread looks at: for a minute.
pub(crate) const MOST_PAUSES: u32 = 60_000;

/// Waits a millisecond for others.
pub(crate) fn pause() {
    // In a browser there are no others, and no clock to wait with.
    if !cfg!(target_family = "wasm") {
        thread::sleep(Duration::from_millis(1));
    }
}

impl<'a, M: Memory> Turn<'a, M> {
    pub(super) fn new(
        pool: &'a Pool<M>,
        lenders: MutexGuard<'a, Lenders>,
        engine: Option<LenderId>,
    ) -> Self {
        Self { pool, lenders, engine }
    }

    /// Adds a lender.
    pub(crate) fn register(&mut self, lender: &Arc<RwLock<dyn Lender>>) -> LenderId {
        self.lenders.all.retain(|_, lender| lender.strong_count() > 0);
        let id = LenderId(self.lenders.next);
        self.lenders.next += 1;
        self.lenders.all.insert(id, Arc::downgrade(lender));
        id
    }

    /// The number of blocks that an engine may hold which holds `held`: those that are free, and
    /// those that only the prefix caches of others hold.
    pub(crate) fn limit(&self, held: usize) -> usize {
        let evictable = |(_, lender): (_, Arc<RwLock<dyn Lender>>)| {
            lender.try_read().map_or(0, |lender| lender.evictable())
        };
        let evictable: usize = self.others().into_iter().map(evictable).sum();
        held + self.pool.max_blocks().saturating_add(evictable).saturating_sub(self.pool.blocks())
    }

    /// As [`limit`](Self::limit), without those that the prefix caches of others hold.
    pub(crate) fn idle_limit(&self, held: usize) -> usize {
        held + self.pool.max_blocks().saturating_sub(self.pool.blocks())
    }

    /// Takes all that is asked for, or nothing. What the blocks hold is undefined. Where too few are free,
    /// the prefix caches of others give up theirs.
    ///
    /// # Errors
    /// Fewer are left in the budget, or in the memory of the machine.
    pub(super) fn take(&self, demand: Demand) -> Result<Taken<M>> {
        self.evict(demand.total());
        self.pool.take_free(demand)
    }

    /// Frees `blocks` blocks, as far as what the prefix caches of others hold suffices.
    fn evict(&self, blocks: usize) {
        if self.short(blocks) == 0 {
            return;
        }
        for (_, lender) in self.others() {
            match (self.short(blocks), lender.try_write()) {
                (0, _) => return,
                (short, Ok(mut lender)) => lender.lend(short, false),
                (_, Err(_)) => {} // a thread looks at it
            }
        }
    }

    /// Makes room for `blocks` blocks where an engine cannot go on without them, or a KV cache that
    /// belongs to none. Engines that came later preempt sequences, the last one first, when their
    /// passes have ended. False if there was nothing to preempt.
    pub(crate) fn make_room(&self, blocks: usize) -> bool {
        let before = self.pool.blocks();
        if blocks > self.pool.max_blocks() {
            return false;
        }
        self.evict(blocks);
        let later = self.others().into_iter().rev().filter(|(id, _)| Some(*id) > self.engine);
        for (_, lender) in later {
            for _ in 0..MOST_PAUSES {
                match (self.short(blocks), lender.try_write()) {
                    (0, _) => break,
                    (short, Ok(mut lender)) if !lender.computes() => {
                        lender.lend(short, true);
                        break;
                    }
                    _ => pause(),
                }
            }
        }
        self.pool.blocks() < before
    }

    /// The number of blocks by which less than `blocks` are free.
    fn short(&self, blocks: usize) -> usize {
        self.pool.blocks().saturating_add(blocks).saturating_sub(self.pool.max_blocks())
    }

    fn others(&self) -> Vec<(LenderId, Arc<RwLock<dyn Lender>>)> {
        let others = self.lenders.all.iter().filter(|(id, _)| Some(**id) != self.engine);
        others.filter_map(|(&id, lender)| Some((id, lender.upgrade()?))).collect()
    }
}
