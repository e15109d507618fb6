//! The KV cache: the keys and values of earlier tokens, which attention reads at every step.
//!
//! A [`KvPool`] holds the memory of all sequences, in blocks of 32 positions. A [`KvCache`] is the
//! block table of one sequence. A [`BlockManager`] plans who gets which block, and finds blocks
//! that hold the same prefix.

mod blocks;
mod manager;
mod pool;
mod prefix;
mod tensors;

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::kernels::{self, BLOCK};
pub use blocks::Blocks;
pub(crate) use manager::Extension;
pub use manager::{BlockCounts, BlockId, BlockManager, BlockTable};
pub use pool::KvPool;
pub(crate) use pool::SharedBlock;
pub use prefix::PrefixStats;
pub use tensors::LayerCache;

/// The keys and values of one sequence, for every layer.
#[derive(Debug)]
pub struct KvCache {
    pool: KvPool,
    store: Store,
    length: usize,
    capacity: usize,
}

/// The storage of keys and values.
#[derive(Debug)]
pub(crate) enum Store {
    /// On the CPU: blocks in the layout of the kernels, allocated on demand.
    Blocks(Blocks),
    /// On any other device: tensors for the whole capacity, one pair for each layer.
    Tensors(tensors::Layers),
}

/// The dimensions of a KV cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KvShape {
    pub n_layers: usize,
    pub n_kv_heads: usize,
    pub head_dim: usize,
}

impl KvCache {
    // ANCHOR: new
    /// An empty cache for up to `capacity` tokens.
    ///
    /// # Errors
    /// On a device that allocates the whole capacity at once: too little memory, or a pool with
    /// less than that left.
    pub(super) fn new(pool: &KvPool, capacity: usize) -> Result<Self> {
        let store = if kernels::serve(pool.device()) {
            Store::Blocks(Blocks::new(pool))
        } else {
            Store::Tensors(tensors::Layers::new(pool, capacity)?)
        };
        Ok(Self { pool: pool.clone(), store, length: 0, capacity })
    }
    // ANCHOR_END: new

    /// The number of tokens in the cache, which is the position of the next one.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The most tokens that fit.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    // ANCHOR: bytes
    /// The memory of the cache, in bytes: on the CPU that of its blocks, elsewhere that of the
    /// whole capacity. Each token takes
    /// `2 * n_layers * n_kv_heads * head_dim * bytes per number`.
    pub fn bytes(&self) -> usize {
        match &self.store {
            Store::Blocks(blocks) => blocks.bytes(),
            Store::Tensors(layers) => layers.bytes(),
        }
    }
    // ANCHOR_END: bytes

    /// Keeps only the first `length` tokens, and gives back the blocks of the others.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
        if let Store::Blocks(blocks) = &mut self.store {
            blocks.truncate(self.length);
        }
    }

    // ANCHOR: fork
    /// A second cache with the same tokens. On the CPU, the two share all blocks until one of them
    /// writes; elsewhere the memory is copied.
    ///
    /// # Errors
    /// On other devices than the CPU: too little memory, or a pool with less than that left.
    pub fn fork(&self) -> Result<Self> {
        let store = match &self.store {
            Store::Blocks(blocks) => Store::Blocks(blocks.fork(self.length)),
            Store::Tensors(layers) => Store::Tensors(layers.fork(&self.pool)?),
        };
        let (length, capacity) = (self.length, self.capacity);
        Ok(Self { pool: self.pool.clone(), store, length, capacity })
    }
    // ANCHOR_END: fork

    /// Reserves memory for `new` more tokens, before a forward pass computes anything.
    ///
    /// # Errors
    /// More tokens than fit; too little memory, or a pool with less than that left.
    pub(crate) fn reserve(&mut self, new: usize) -> Result<()> {
        let (capacity, length) = (self.capacity, self.length);
        if new > capacity - length {
            return Err(Error::CacheFull { capacity, length, new });
        }
        match &mut self.store {
            Store::Blocks(blocks) => blocks.reserve(length, length + new),
            Store::Tensors(_) => Ok(()),
        }
    }

    /// The storage of keys and values. Positions appended at [`length`](Self::length) count only
    /// once they are [committed](Self::commit).
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// As [`store`](Self::store).
    pub(crate) fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }

    /// Commits `new` tokens, which every layer has appended.
    pub(crate) fn commit(&mut self, new: usize) {
        self.length += new;
    }

    /// Appends a full block of another sequence with the same tokens up to its end. The cache must
    /// end at a block boundary.
    pub(crate) fn push_shared(&mut self, block: &SharedBlock) {
        if let Store::Blocks(blocks) = &mut self.store {
            blocks.truncate(self.length);
            blocks.push(Arc::clone(block));
            self.length += BLOCK;
        }
    }

    /// The block at `index` of the block table.
    pub(crate) fn block(&self, index: usize) -> Option<&SharedBlock> {
        match &self.store {
            Store::Blocks(blocks) => blocks.get(index),
            Store::Tensors(_) => None,
        }
    }
}
