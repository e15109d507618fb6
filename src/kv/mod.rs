//! The KV cache: the keys and values of earlier tokens, which attention reads at every step.
//!
//! A [`Pool`] hands out memory in [blocks](Block) of 32 positions, and a [`BlockTable`] lists the blocks of
//! one sequence. A [`KvCache`] has such a table, and so does each sequence of a scheduler, whose
//! [`BlockManager`] also finds blocks that already hold the same prefix.
//!
//! A block holds the keys and values of all layers. So if every layer has a window, the blocks behind it are
//! given back, and a prefix is found by the blocks of its last window alone. But a single layer that
//! reads the whole text keeps all blocks, and needs them all.
//!
//! Some layers have no keys and values, but a state of fixed size. States belong to a table, whose blocks hold nothing
//! of them, and count in the budget as a number of blocks. The prefix cache has copies of those after some blocks, and
//! finds a prefix only up to one of these: at the ends of a prompt's chunks, and at the last full block of a prompt
//! and of what was generated.

mod block;
mod manager;
mod memory;
mod pool;
mod prefix;
#[cfg(feature = "cube")]
mod slab;
#[cfg(feature = "burn")]
mod states;
#[cfg(feature = "burn")]
mod stored;
#[cfg(feature = "burn")]
mod tensors;
mod turn;

use std::sync::Arc;

use crate::adapter::Adapter;
use crate::error::{RequestError, Result};
pub use block::{Block, BlockId, BlockTable, Memory, SequenceStates};
pub(crate) use manager::Extension;
pub use manager::{BlockCounts, BlockManager};
pub(crate) use memory::BLOCK;
pub use memory::KvMemory;
pub use pool::Pool;
pub use prefix::PrefixStats;
#[cfg(feature = "burn")]
pub use states::States;
#[cfg(feature = "burn")]
pub(crate) use states::{MOST_DRAFTED, StateShape};
#[cfg(feature = "burn")]
pub use tensors::{LayerCache, Layers};
pub(crate) use turn::{Lender, LenderId, MOST_PAUSES, Turn, pause};

/// The memory of all KV caches of a model.
pub type KvPool = Pool<KvMemory>;

/// The keys and values of one sequence, for every layer.
#[derive(Debug)]
pub struct KvCache {
    pool: KvPool,
    table: BlockTable<KvMemory>,
    capacity: usize,
    adapter: Option<Arc<Adapter>>,
}

impl KvCache {
    /// An empty cache for up to `capacity` tokens.
    ///
    /// # Errors
    /// On a device without blocks, where the whole capacity is allocated at once: too little memory, or a
    /// pool with less than that left.
    pub(crate) fn new(pool: &KvPool, capacity: usize) -> Result<Self> {
        let table = BlockTable::default();
        let mut cache = Self { pool: pool.clone(), table, capacity, adapter: None };
        if !pool.is_paged() {
            cache.reserve_whole()?;
        }
        Ok(cache)
    }

    /// The cache of a sequence whose table has all blocks that it needs.
    pub(crate) fn with_table(pool: &KvPool, table: BlockTable<KvMemory>) -> Self {
        let capacity = table.end() * BLOCK;
        Self { pool: pool.clone(), table, capacity, adapter: None }
    }

    /// The same, of a sequence whose tokens are computed with `adapter`. An adapter decides keys and values too, so
    /// that a cache has one from its first token on.
    pub fn with_adapter(mut self, adapter: Option<&Arc<Adapter>>) -> Self {
        self.adapter = adapter.cloned();
        self
    }

    /// What its tokens are computed with.
    pub(crate) fn adapter(&self) -> Option<&Arc<Adapter>> {
        self.adapter.as_ref()
    }

    /// The blocks of the cache.
    pub(crate) fn into_table(self) -> BlockTable<KvMemory> {
        self.table
    }

    /// The number of tokens in the cache, which is the position of the next one.
    pub fn length(&self) -> usize {
        self.table.length
    }

    /// The most tokens that fit.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The memory of the cache, in bytes: that of its blocks, or on a device without blocks that of the
    /// whole capacity. Each token takes
    /// `2 * n_layers * n_kv_heads * head_dim * bytes per number`.
    pub fn bytes(&self) -> usize {
        let blocks = self.table.blocks_of_memory() * self.pool.block_bytes();
        self.whole_bytes().unwrap_or(blocks)
    }

    /// Keeps only the first `length` tokens, and gives back the blocks of the others.
    ///
    /// A layer with a state instead of keys and values knows only what it was before and after the last pass,
    /// and within that if it read few tokens. Elsewhere fewer tokens are kept than that, perhaps none:
    /// [`length`](Self::length) says how many.
    pub fn truncate(&mut self, length: usize) {
        self.table.length = self.known(self.table.length.min(length));
        if self.pool.is_paged() {
            self.table
                .blocks
                .truncate(self.table.length.div_ceil(BLOCK).saturating_sub(self.table.first));
        }
    }

    /// A second cache with the same tokens. The two share all blocks until one of them writes; on a
    /// device without blocks the memory is copied.
    ///
    /// # Errors
    /// On a device without blocks, or where layers have states: too little memory, or a pool with
    /// less than that left.
    pub fn fork(&self) -> Result<Self> {
        let mut fork = Self {
            pool: self.pool.clone(),
            table: BlockTable { length: self.length(), ..BlockTable::default() },
            capacity: self.capacity,
            adapter: self.adapter.clone(),
        };
        if self.pool.is_paged() {
            let blocks = &self.table.blocks[..self.length().div_ceil(BLOCK) - self.table.first];
            fork.table.blocks = blocks.to_vec(); // references, and no memory
            fork.table.first = self.table.first;
            fork.copy_states(self)?;
        } else {
            fork.copy_whole(self)?;
        }
        Ok(fork)
    }

    /// Reserves memory for `new` more tokens, before a forward pass computes anything.
    ///
    /// # Errors
    /// More tokens than fit; too little memory, or a pool with less than that left.
    pub(crate) fn reserve(&mut self, new: usize) -> Result<()> {
        let (capacity, length) = (self.capacity, self.length());
        if new > capacity - length {
            return Err(RequestError::CacheFull { capacity, length, new }.into());
        }
        let written = length / BLOCK..(length + new).div_ceil(BLOCK);
        let states = self.pool.state_blocks();
        self.table.reserve(written, states, |demand| self.pool.take(demand))?;
        self.allocate_whole()
    }

    /// Commits `new` tokens, which every layer has appended.
    pub(crate) fn commit(&mut self, new: usize) {
        self.table.length += new;
    }
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use burn::tensor::{DType, Device};

    use super::*;
    use crate::error::{Error, ServiceError};
    use crate::model::config::KvHeads;

    const BYTES: usize = 2 * 2 * 16 * 32 * 4;

    fn pool(blocks: usize) -> KvPool {
        let layers = vec![KvHeads::new(1, 16); 2];
        KvPool::new(layers, &Device::flex(), DType::F32, blocks * BYTES)
    }

    fn grow(cache: &mut KvCache, length: usize) -> Result<()> {
        let new = length - cache.length();
        cache.reserve(new)?;
        cache.append(0, cache.length(), &vec![1.0; new * 16], &vec![2.0; new * 16]);
        cache.commit(new);
        Ok(())
    }

    #[test]
    fn memory_is_taken_block_by_block() {
        let mut cache = pool(3).new_cache(1000).unwrap();
        for (length, expected) in [(0, 0), (1, 1), (32, 1), (33, 2), (96, 3)] {
            grow(&mut cache, length).unwrap();
            assert_eq!(cache.bytes(), expected * BYTES, "{length}");
        }
        let error = cache.reserve(1).unwrap_err();
        assert!(matches!(error, Error::Service(ServiceError::KvPoolFull { .. })), "{error}");
        cache.truncate(33);
        assert_eq!(cache.bytes(), 2 * BYTES);
    }

    #[test]
    fn a_fork_shares_its_blocks_until_it_is_written_to() {
        let pool = pool(4);
        let mut cache = pool.new_cache(1000).unwrap();
        grow(&mut cache, 40).unwrap();
        let mut fork = cache.fork().unwrap();
        assert_eq!(pool.bytes(), 2 * BYTES);
        grow(&mut fork, 41).unwrap();
        assert_eq!(pool.bytes(), 3 * BYTES);
        // The other is the only owner of its last block now.
        grow(&mut cache, 41).unwrap();
        assert_eq!(pool.bytes(), 3 * BYTES);
    }
}
