//! The memory that block tables share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::block::{Block, BlockId, Memory};
use super::turn::{LenderId, Lenders, Turn};
use crate::error::{Error, Result, ServiceError};

/// What a block table asks a pool for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Demand {
    pub(super) blocks: usize,
    /// The share of the budget that its states take, in blocks.
    pub(super) claimed: usize,
}

impl Demand {
    pub(super) fn total(self) -> usize {
        self.blocks.saturating_add(self.claimed)
    }
}

/// What a block table gets from a pool.
pub(super) struct Taken<M: Memory> {
    pub(super) blocks: Vec<Block<M>>,
    pub(super) claim: Option<Claim<M>>,
}

/// A budget of memory, handed out in blocks of one size.
///
/// Memory is allocated when positions are about to be written. Blocks that a table gives back are
/// kept for the next one, until no table has any. A clone is a handle to the same pool.
#[derive(Debug)]
pub struct Pool<M: Memory>(Arc<Shared<M>>);

#[derive(Debug)]
struct Shared<M: Memory> {
    layout: M::Layout,
    block_bytes: usize,
    /// How many blocks' worth of memory the states of a sequence take, for layers without keys and values.
    state_blocks: usize,
    /// As `state_blocks`, of a copy that the prefix cache keeps.
    snapshot_blocks: usize,
    budget: usize,
    usage: Mutex<Usage<M>>,
    /// Locked during a [`Turn`].
    lenders: Mutex<Lenders>,
}

#[derive(Debug, Default)]
struct Usage<M> {
    /// The number of blocks in use.
    blocks: usize,
    /// How many blocks' worth of memory is in use for states.
    claimed: usize,
    /// The most that both have been together.
    peak: usize,
    /// Counts the changes of both.
    changes: u64,
    /// Blocks that were given back. Their number and that of the blocks in use never exceed the
    /// peak together.
    spare: Vec<(BlockId, M)>,
}

impl<M> Usage<M> {
    fn total(&self) -> usize {
        self.blocks + self.claimed
    }
}

/// A share of the budget, in blocks, for memory that is no block: the states of a sequence. It returns on drop.
#[derive(Debug)]
pub(super) struct Claim<M: Memory> {
    blocks: usize,
    pool: Pool<M>,
}

impl<M: Memory> Claim<M> {
    pub(super) fn blocks(&self) -> usize {
        self.blocks
    }
}

impl<M: Memory> Drop for Claim<M> {
    fn drop(&mut self) {
        let mut usage = self.pool.usage();
        usage.claimed -= self.blocks;
        usage.changes += 1;
    }
}

impl<M: Memory> Clone for Pool<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M: Memory> Pool<M> {
    /// A pool of up to `budget` bytes, in blocks of `block_bytes` that have this layout.
    pub(super) fn with_layout(layout: M::Layout, block_bytes: usize, budget: usize) -> Self {
        Self::with_states(layout, [block_bytes, 0, 0], budget)
    }

    /// As [`with_layout`](Self::with_layout), where a sequence needs `state_bytes` besides its blocks, and a copy of
    /// its states `snapshot_bytes`.
    pub(super) fn with_states(
        layout: M::Layout,
        [block_bytes, state_bytes, snapshot_bytes]: [usize; 3],
        budget: usize,
    ) -> Self {
        Self(Arc::new(Shared {
            layout,
            block_bytes,
            state_blocks: state_bytes.div_ceil(block_bytes),
            snapshot_blocks: snapshot_bytes.div_ceil(block_bytes),
            budget,
            usage: Mutex::default(),
            lenders: Mutex::default(),
        }))
    }

    /// The most bytes that the blocks may take together.
    pub fn budget(&self) -> usize {
        self.0.budget
    }

    /// The bytes of the blocks that are in use.
    pub fn bytes(&self) -> usize {
        self.usage().total() * self.block_bytes()
    }

    /// The most bytes that were in use at once.
    pub fn peak_bytes(&self) -> usize {
        self.usage().peak * self.block_bytes()
    }

    /// The memory of a block, in bytes.
    pub fn block_bytes(&self) -> usize {
        self.0.block_bytes
    }

    /// The number of blocks that the budget allows.
    pub fn max_blocks(&self) -> usize {
        self.0.budget / self.block_bytes()
    }

    /// The number of blocks in use, and of those that states stand for.
    pub(super) fn blocks(&self) -> usize {
        self.usage().total()
    }

    /// The most blocks that a sequence can have.
    pub fn most_blocks_of_a_sequence(&self) -> usize {
        self.max_blocks().saturating_sub(self.state_blocks())
    }

    /// How many blocks' worth of memory the states of a sequence take: none, where all layers have keys and
    /// values.
    pub fn state_blocks(&self) -> usize {
        self.0.state_blocks
    }

    /// As [`state_blocks`](Self::state_blocks), of a copy that the prefix cache keeps.
    pub(super) fn snapshot_blocks(&self) -> usize {
        self.0.snapshot_blocks
    }

    pub(super) fn layout(&self) -> &M::Layout {
        &self.0.layout
    }

    /// Begins a turn, when that of another has ended: of an engine, or of a KV cache that belongs
    /// to none.
    pub(crate) fn turn(&self, engine: Option<LenderId>) -> Turn<'_, M> {
        let lenders = self.0.lenders.lock().unwrap_or_else(PoisonError::into_inner);
        Turn::new(self, lenders, engine)
    }

    /// Takes all that is asked for, or nothing, for a KV cache that belongs to no engine. What the blocks
    /// hold is undefined.
    ///
    /// # Errors
    /// Fewer are left in the budget, or in the memory of the machine.
    pub(super) fn take(&self, demand: Demand) -> Result<Taken<M>> {
        let turn = self.turn(None);
        turn.make_room(demand.total());
        turn.take(demand)
    }

    /// As [`take`](Self::take), of blocks alone.
    #[cfg(test)]
    pub(super) fn take_blocks(&self, blocks: usize) -> Result<Vec<Block<M>>> {
        self.take(Demand { blocks, claimed: 0 }).map(|taken| taken.blocks)
    }

    /// Takes blocks that are free. Only for a [`Turn`]: nothing else takes any meanwhile.
    pub(super) fn take_free(&self, demand: Demand) -> Result<Taken<M>> {
        let Demand { blocks, claimed } = demand;
        let mut usage = self.usage();
        if demand.total() > self.max_blocks().saturating_sub(usage.total()) {
            return Err(self.error(usage.total(), demand.total()));
        }
        let fresh = blocks.saturating_sub(usage.spare.len());
        let fresh = M::allocate(&self.0.layout, fresh)?;
        // Smaller ids were given to blocks that are in use or spare.
        let next = usage.blocks + usage.spare.len();
        let spare = usage.spare.len() - (blocks - fresh.len());
        let spare = usage.spare.split_off(spare).into_iter().rev();
        usage.blocks += blocks;
        usage.claimed += claimed;
        usage.peak = usage.peak.max(usage.total());
        usage.changes += 1;
        let fresh = (next..).map(BlockId).zip(fresh);
        let block = |(id, memory)| Block::new(id, memory, self.clone());
        // Not made in vain: it locks the pool when it is dropped.
        let claim = || Claim { blocks: claimed, pool: self.clone() };
        Ok(Taken {
            blocks: spare.chain(fresh).map(block).collect(),
            claim: (claimed > 0).then(claim),
        })
    }

    /// The error where `blocks` more blocks are needed, and too few are left.
    pub(crate) fn full(&self, blocks: usize) -> Error {
        self.error(self.blocks(), blocks)
    }

    fn error(&self, in_use: usize, blocks: usize) -> Error {
        Error::Service(ServiceError::KvPoolFull {
            budget: self.budget(),
            in_use: in_use * self.block_bytes(),
            needed: blocks.saturating_mul(self.block_bytes()),
        })
    }

    /// Takes back the memory of a block.
    pub(super) fn put_back(&self, id: BlockId, memory: M) {
        let mut usage = self.usage();
        usage.blocks -= 1;
        usage.changes += 1;
        usage.spare.push((id, memory));
        if usage.blocks == 0 {
            // Nothing is generated: the memory may be of use to other programs.
            usage.spare = Vec::new();
        }
    }

    fn usage(&self) -> MutexGuard<'_, Usage<M>> {
        self.0.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number that changes whenever memory is taken or given back.
    pub(crate) fn changes(&self) -> u64 {
        self.usage().changes
    }
}

impl Pool<()> {
    /// A pool of so many blocks without memory.
    pub fn of_blocks(blocks: usize) -> Self {
        Self::with_layout((), 1, blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_gives_all_or_nothing_and_takes_back() {
        let pool = Pool::<()>::with_layout((), 10, 51);
        assert_eq!((pool.block_bytes(), pool.max_blocks()), (10, 5));
        let three = pool.take_blocks(3).unwrap();
        let error = pool.take_blocks(3).unwrap_err();
        let full = Error::Service(ServiceError::KvPoolFull { budget: 51, in_use: 30, needed: 30 });
        assert_eq!(error.to_string(), full.to_string());
        assert_eq!(pool.bytes(), 30);
        let two = pool.take_blocks(2).unwrap();
        drop(three);
        assert_eq!((pool.bytes(), pool.usage().spare.len()), (20, 3));
        let more = pool.take_blocks(3).unwrap();
        assert_eq!((pool.bytes(), pool.usage().spare.len()), (50, 0));
        drop(more);
        assert_eq!(pool.usage().spare.len(), 3, "never more than were in use at once");
        drop(two);
        assert_eq!((pool.bytes(), pool.peak_bytes()), (0, 50));
        assert_eq!(pool.usage().spare.len(), 0, "no table needs them");
    }

    #[test]
    fn no_two_blocks_in_use_have_one_id() {
        let pool = Pool::of_blocks(6);
        let ids = |blocks: &[Block]| blocks.iter().map(|block| block.id().0).collect::<Vec<_>>();
        let mut first = pool.take_blocks(4).unwrap();
        let second = pool.take_blocks(1).unwrap();
        assert_eq!((ids(&first), ids(&second)), (vec![0, 1, 2, 3], vec![4]));
        drop(first.pop());
        drop(first.remove(0));
        // The last that came back is the first to be taken.
        assert_eq!(ids(&pool.take_blocks(3).unwrap()), [0, 3, 5]);
    }
}
