//! The KV cache: the keys and values of earlier tokens, which attention reads at every step.

mod blocks;
mod tensors;

use burn::tensor::{DType, Device};

use crate::error::{Error, Result};
use crate::kernels::{self, BlockLayout, Format};
pub use blocks::Blocks;
pub use tensors::LayerCache;

/// The keys and values of one sequence, for every layer.
///
/// A clone shares the memory until either is appended to.
#[derive(Debug, Clone)]
pub struct KvCache {
    store: Store,
    length: usize,
    capacity: usize,
}

/// The storage of keys and values.
#[derive(Debug, Clone)]
pub(crate) enum Store {
    /// On the CPU: blocks in the layout of the kernels, allocated on demand.
    Blocks(Blocks),
    /// On any other device: tensors for the whole capacity, one pair for each layer.
    Tensors(Vec<LayerCache>),
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
    /// An empty cache for up to `capacity` tokens, stored as `dtype`.
    ///
    /// # Errors
    /// On a device that allocates the whole capacity at once: too little memory.
    pub fn new(shape: KvShape, capacity: usize, device: &Device, dtype: DType) -> Result<Self> {
        let KvShape { n_layers, n_kv_heads, head_dim } = shape;
        let store = if kernels::serve(device) {
            let format = Format::of(dtype);
            Store::Blocks(Blocks::new(BlockLayout { n_layers, n_kv_heads, head_dim, format }))
        } else {
            Store::Tensors(tensors::layers(shape, capacity, device, dtype)?)
        };
        Ok(Self { store, length: 0, capacity })
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
    /// The memory of the cache, in bytes: on the CPU that of the allocated blocks, elsewhere that
    /// of the whole capacity. Each token takes
    /// `2 * n_layers * n_kv_heads * head_dim * bytes per number`.
    pub fn bytes(&self) -> usize {
        match &self.store {
            Store::Blocks(blocks) => blocks.bytes(),
            Store::Tensors(layers) => layers.iter().map(LayerCache::bytes).sum(),
        }
    }
    // ANCHOR_END: bytes

    /// Reserves memory for `new` more tokens, before a forward pass computes anything.
    ///
    /// # Errors
    /// More tokens than fit; too little memory.
    pub(crate) fn reserve(&mut self, new: usize) -> Result<()> {
        let (capacity, length) = (self.capacity, self.length);
        if new > capacity - length {
            return Err(Error::CacheFull { capacity, length, new });
        }
        match &mut self.store {
            Store::Blocks(blocks) => blocks.reserve(length + new),
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
}
