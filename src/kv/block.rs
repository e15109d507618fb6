//! Blocks of memory, and the table of those that a sequence has.

use std::fmt::{self, Debug};
use std::mem;
use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;

use super::pool::{Claim, Demand, Pool, Taken};
use super::prefix::Link;
use crate::error::Result;

/// What blocks are made of. A test that only counts blocks has `()`.
pub trait Memory: Default + Send + Sync + Debug + 'static {
    /// What all blocks of a pool have in common.
    type Layout: Debug + Send + Sync;

    /// What the layers of a sequence remember that keep no keys and values.
    type States: SequenceStates;

    /// New memory for so many blocks.
    ///
    /// # Errors
    /// The machine has too little.
    fn allocate(layout: &Self::Layout, blocks: usize) -> Result<Vec<Self>>;

    /// Copies the contents of `other`.
    fn copy_from(&mut self, other: &Self);

    /// What a later owner of the block can use.
    fn recycle(self) -> Self {
        self
    }
}

/// What the layers of a sequence remember that keep no keys and values. Where all layers have some, nothing.
pub trait SequenceStates: Clone + Default + Debug + Send + Sync {
    /// Whether they are those after so many positions.
    fn are_after(&self, length: usize) -> bool;

    /// What is needed to go on from there.
    fn snapshot(&self) -> Self;
}

impl SequenceStates for () {
    fn are_after(&self, _: usize) -> bool {
        false
    }

    fn snapshot(&self) -> Self {}
}

impl Memory for () {
    type Layout = ();
    type States = ();

    fn allocate((): &(), blocks: usize) -> Result<Vec<Self>> {
        Ok(vec![(); blocks])
    }

    fn copy_from(&mut self, (): &Self) {}
}

/// Identifies a block of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub(super) usize);

impl fmt::Display for BlockId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

// ANCHOR: block
/// The memory of a block, which returns to its pool on drop. Tables share it as an `Arc`, whose count
/// is the block's reference count.
#[derive(Debug)]
pub struct Block<M: Memory = ()> {
    id: BlockId,
    memory: M,
    pool: Pool<M>,
}
// ANCHOR_END: block

impl<M: Memory> Block<M> {
    pub(super) fn new(id: BlockId, memory: M, pool: Pool<M>) -> Self {
        Self { id, memory, pool }
    }

    /// Its number in the pool.
    pub fn id(&self) -> BlockId {
        self.id
    }
}

impl<M: Memory> Deref for Block<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.memory
    }
}

impl<M: Memory> DerefMut for Block<M> {
    fn deref_mut(&mut self) -> &mut M {
        &mut self.memory
    }
}

impl<M: Memory> Drop for Block<M> {
    fn drop(&mut self) {
        let memory = mem::take(&mut self.memory).recycle();
        self.pool.put_back(self.id, memory);
    }
}

/// The block table of one sequence: its blocks in the order of their positions. Several tables may
/// share a block. Where all layers have a window, it begins with the first block that one still reads.
#[derive(Debug, Default)]
pub struct BlockTable<M: Memory = ()> {
    pub(super) blocks: Vec<Arc<Block<M>>>,
    /// Where its chain begins.
    pub(super) root: Link,
    /// How many blocks before these were given back.
    pub(super) first: usize,
    /// The number of positions that were written.
    pub(super) length: usize,
    /// The chain of each block that the prefix cache knows.
    pub(super) links: Vec<Link>,
    /// After these positions.
    pub(super) states: M::States,
    /// The share of the budget that the states take, from the first position on.
    pub(super) claim: Option<Claim<M>>,
    /// The share of the budget for a copy of the states after the next pass, and whether that reads a sampled token.
    pub(super) snapshot: Option<(Claim<M>, bool)>,
    /// Where the last copy is that was made of the states after a sampled token.
    pub(super) last_snapshot: Option<Link>,
}

impl<M: Memory> BlockTable<M> {
    /// An empty table, which shares blocks only with those of the same `salt`: with an adapter, equal tokens have
    /// other keys and values.
    pub(crate) fn salted(salt: u64) -> Self {
        Self { root: Link::root(salt), ..Self::default() }
    }

    /// The blocks that it has, from number [`first`](Self::first) on.
    pub fn blocks(&self) -> &[Arc<Block<M>>] {
        &self.blocks
    }

    /// The number of the first block: how many before it were given back, behind the window.
    pub fn first(&self) -> usize {
        self.first
    }

    /// The number of blocks so far, with those that were given back.
    pub(crate) fn end(&self) -> usize {
        self.first + self.blocks.len()
    }

    /// The number of positions that were written.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The memory of the table, in blocks: its own, and what its states stand for.
    pub(crate) fn blocks_of_memory(&self) -> usize {
        self.blocks.len() + self.claim.as_ref().map_or(0, Claim::blocks)
    }

    pub(super) fn last_link(&self) -> Link {
        self.links.last().copied().unwrap_or(self.root)
    }

    /// Prepares these blocks of the table for writing: the missing ones are taken, and shared ones
    /// copied (copy-on-write). `take` gives as many as it is asked for, and the memory of states, which
    /// stand for `state_blocks`, where the table has none.
    ///
    /// # Errors
    /// Those of `take`. Nothing has changed then.
    pub(super) fn reserve(
        &mut self,
        written: Range<usize>,
        state_blocks: usize,
        take: impl FnOnce(Demand) -> Result<Taken<M>>,
    ) -> Result<()> {
        // ANCHOR: reserve
        let first = written.start.saturating_sub(self.first).min(self.blocks.len());
        let missing = written.end.saturating_sub(self.end());
        let is_shared = |block: &&mut Arc<Block<M>>| Arc::strong_count(block) > 1;
        let shared = self.blocks[first..].iter_mut().filter(is_shared);
        let shared: Vec<&mut Arc<Block<M>>> = shared.collect();
        let claimed = if self.claim.is_some() {
            0
        } else {
            state_blocks
        };
        let demand = Demand { blocks: missing + shared.len(), claimed };
        if demand.total() == 0 {
            return Ok(());
        }
        let Taken { blocks, claim } = take(demand)?;
        self.claim = self.claim.take().or(claim);
        let mut taken = blocks.into_iter();
        for (block, mut copy) in shared.into_iter().zip(&mut taken) {
            copy.copy_from(block);
            *block = Arc::new(copy);
        }
        self.blocks.extend(taken.map(Arc::new));
        // ANCHOR_END: reserve
        Ok(())
    }

    /// Memory that belongs to this table alone: [`reserve`](Self::reserve) has copied what it shared.
    #[cfg(any(feature = "burn", test))]
    pub(super) fn block_mut(&mut self, index: usize) -> &mut M {
        match Arc::get_mut(&mut self.blocks[index - self.first]) {
            Some(block) => block,
            None => unreachable!("`reserve` has copied every shared block that is written to"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block that holds a number.
    #[derive(Debug, Default)]
    struct Number(u32);

    impl Memory for Number {
        type Layout = ();
        type States = ();

        fn allocate((): &(), blocks: usize) -> Result<Vec<Self>> {
            Ok((0..blocks).map(|_| Self(0)).collect())
        }

        fn copy_from(&mut self, other: &Self) {
            self.0 = other.0;
        }
    }

    fn pool(blocks: usize) -> Pool<Number> {
        Pool::with_layout((), 1, blocks)
    }

    fn share(table: &BlockTable<Number>) -> BlockTable<Number> {
        BlockTable { blocks: table.blocks.clone(), ..BlockTable::default() }
    }

    /// Beams share blocks: a write copies only the block that it changes.
    #[test]
    fn shared_blocks_are_copied_when_they_are_written_to() {
        let pool = pool(4);
        let mut table = BlockTable::default();
        table.reserve(0..2, 0, |demand| pool.take(demand)).unwrap();
        table.block_mut(1).0 = 7;
        let mut other = share(&table);
        assert_eq!(pool.bytes(), 2);
        other.reserve(1..2, 0, |demand| pool.take(demand)).unwrap();
        assert_eq!(other.block_mut(1).0, 7);
        assert!(Arc::ptr_eq(&table.blocks[0], &other.blocks[0]));
        assert!(!Arc::ptr_eq(&table.blocks[1], &other.blocks[1]));
        assert_eq!(pool.bytes(), 3);
        // The other is the only owner of its last block now.
        table.reserve(1..2, 0, |_| panic!("nothing is missing")).unwrap();
    }

    #[test]
    fn a_copy_that_does_not_fit_changes_nothing() {
        let pool = pool(1);
        let mut table = BlockTable::default();
        table.reserve(0..1, 0, |demand| pool.take(demand)).unwrap();
        let mut other = share(&table);
        assert!(other.reserve(0..1, 0, |demand| pool.take(demand)).is_err());
        assert!(Arc::ptr_eq(&table.blocks[0], &other.blocks[0]));
        drop(other);
        table.reserve(0..1, 0, |_| panic!("nothing is shared")).unwrap();
    }
}
