//! Blocks that store keys and values, and what is written to and read from them.

use std::sync::{Arc, Mutex, PoisonError};

use burn::tensor::{DType, Device};

use super::memory::{BLOCK, KvLayout, KvMemory};
use super::pool::Pool;
#[cfg(feature = "cube")]
use super::slab::Slab;
use super::tensors::Layers;
use super::{KvCache, KvPool, StateShape};
#[cfg(feature = "cube")]
use crate::cube;
#[cfg(feature = "cube")]
use crate::device::has_cubes;
use crate::device::has_kernels;
use crate::error::{Error, RequestError, Result};
use crate::kernels::{self, BlockLayout, KvFormat, LayerLayout};
use crate::memory;
use crate::model::config::KvHeads;

/// How many bytes of blocks are allocated at least, before the memory of the machine is looked at
/// again.
const CHECKED_AT_ONCE: u128 = 64 << 20;

/// What blocks that store something have in common.
#[derive(Debug)]
pub struct Stored {
    pub(super) layers: Vec<KvHeads>,
    pub(super) device: Device,
    pub(super) dtype: DType,
    pub(super) panels: BlockLayout,
    /// The memory of all blocks, on a GPU.
    #[cfg(feature = "cube")]
    pub(super) slab: Option<Arc<Slab>>,
    /// The bytes that may be allocated before the memory of the machine is looked at again.
    checked: Mutex<u128>,
}

impl Stored {
    /// Whether a sequence gets its blocks as it grows, and may share them.
    pub(super) fn is_paged(&self) -> bool {
        #[cfg(feature = "cube")]
        if self.slab.is_some() {
            return true;
        }
        has_kernels(&self.device)
    }

    /// The memory of a block, in bytes.
    fn block_bytes(&self) -> usize {
        #[cfg(feature = "cube")]
        if let Some(slab) = &self.slab {
            return slab.slot_bytes();
        }
        self.panels.bytes()
    }

    /// Checks that the machine has the memory for so many more blocks. That takes reading several
    /// files, so it is done once for many blocks where there is room for many.
    fn check_memory(&self, blocks: usize) -> Result<()> {
        let bytes = blocks as u128 * self.panels.bytes() as u128;
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes > *checked {
            *checked = [bytes.max(CHECKED_AT_ONCE), bytes]
                .into_iter()
                .find(|&bytes| memory::fits(bytes))
                .ok_or(Error::Request(RequestError::CacheTooLarge {
                    tokens: blocks.saturating_mul(BLOCK),
                    bytes,
                }))?;
        }
        *checked -= bytes;
        Ok(())
    }

    /// The memory of so many more blocks.
    ///
    /// # Errors
    /// The machine has too little.
    pub(super) fn allocate(&self, blocks: usize) -> Result<Vec<KvMemory>> {
        #[cfg(feature = "cube")]
        if let Some(slab) = &self.slab {
            return Ok(slab.take(blocks)?.into_iter().map(KvMemory::Slot).collect());
        }
        if !self.is_paged() {
            return Ok((0..blocks).map(|_| KvMemory::Counted).collect());
        }
        self.check_memory(blocks)?;
        let panels = |_| KvMemory::Panels(kernels::Block::new(&self.panels));
        Ok((0..blocks).map(panels).collect())
    }
}

impl KvPool {
    /// An empty pool of up to `budget` bytes, for layers that have so many heads of keys and values each.
    pub fn new(layers: Vec<KvHeads>, device: &Device, dtype: DType, budget: usize) -> Self {
        Self::with_format(layers, &[], device, dtype, KvFormat::of(dtype), budget)
    }

    /// As [`new`](Self::new), with keys and values stored as `format` in blocks. Where there are none,
    /// they are tensors of `dtype`. `states` are the layers that have none.
    pub(crate) fn with_format(
        layers: Vec<KvHeads>,
        states: &[StateShape],
        device: &Device,
        dtype: DType,
        format: KvFormat,
        budget: usize,
    ) -> Self {
        let heads =
            layers.iter().map(|heads| ([heads.n_kv_heads, heads.head_dim], heads.is_latent));
        let stored = Stored {
            panels: BlockLayout::with_latents(heads, format),
            dtype,
            #[cfg(feature = "cube")]
            slab: Slab::of(&layers, device, format, budget),
            layers,
            device: device.clone(),
            checked: Mutex::default(),
        };
        let block_bytes = stored.block_bytes();
        let state_bytes = states.iter().map(|state| state.bytes()).sum();
        let snapshot_bytes = states.iter().map(|state| state.snapshot_bytes()).sum();
        let bytes = [block_bytes, state_bytes, snapshot_bytes];
        Pool::with_states(KvLayout::Stored(stored), bytes, budget)
    }

    /// The budget of a model that was given none: half of the memory that is left on the device.
    pub(crate) fn default_budget(device: &Device) -> usize {
        #[cfg(feature = "cube")]
        if has_cubes(device) {
            return usize::try_from(cube::memory_of(device).left() / 2).unwrap_or(usize::MAX);
        }
        let _ = device;
        memory::available()
            .map_or(usize::MAX, |bytes| usize::try_from(bytes / 2).unwrap_or(usize::MAX))
    }

    /// An empty cache for up to `capacity` tokens.
    ///
    /// # Errors
    /// On a device without blocks, where the whole capacity is allocated at once: too little memory, or a
    /// pool with less than that left.
    pub fn new_cache(&self, capacity: usize) -> Result<KvCache> {
        KvCache::new(self, capacity)
    }

    /// What its blocks have in common, if they store something.
    fn stored(&self) -> Option<&Stored> {
        match self.layout() {
            KvLayout::Counted => None,
            KvLayout::Stored(stored) => Some(stored),
        }
    }

    /// How keys and values are stored. Blocks without memory could store any number.
    pub fn format(&self) -> KvFormat {
        self.stored().map_or(KvFormat::F32, |stored| stored.panels.format())
    }

    /// The memory of all blocks, on a GPU.
    #[cfg(feature = "cube")]
    pub(super) fn slab(&self) -> Option<&Arc<Slab>> {
        self.stored()?.slab.as_ref()
    }
}

/// What is written to and read from the memory.
impl KvCache {
    // ANCHOR: append
    /// Writes keys and values of one layer, both `[seq, n_kv_heads * head_dim]`, into the blocks
    /// from position `start` on, on the CPU. These positions must have been reserved, and count only
    /// once they are [committed](Self::commit).
    pub(crate) fn append(&mut self, layer: usize, start: usize, keys: &[f32], values: &[f32]) {
        let Some(layout) = self.layer_layout(layer) else {
            return;
        };
        let LayerLayout { n_kv_heads, head_dim, .. } = layout;
        let width = n_kv_heads * head_dim;
        let seq = keys.len() / width;
        let mut done = 0;
        while done < seq {
            let (block, slot) = ((start + done) / BLOCK, (start + done) % BLOCK);
            let count = (BLOCK - slot).min(seq - done);
            let rows = done * width..(done + count) * width;
            if let KvMemory::Panels(panels) = self.table.block_mut(block) {
                panels.write(layout, slot, &keys[rows.clone()], &values[rows]);
            }
            done += count;
        }
    }
    // ANCHOR_END: append

    /// The keys and values of all blocks, in order, on the CPU.
    pub(crate) fn panels(&self) -> impl Iterator<Item = &kernels::Block> {
        self.table.blocks.iter().filter_map(|block| match &***block {
            KvMemory::Panels(panels) => Some(panels),
            _ => None,
        })
    }

    /// The slots of all blocks, in order, on a GPU.
    #[cfg(feature = "cube")]
    pub(crate) fn slots(&self) -> Vec<u32> {
        let slots = self.table.blocks.iter().filter_map(|block| match &***block {
            KvMemory::Slot(slot) => Some(slot.index()),
            _ => None,
        });
        slots.collect()
    }

    /// The memory that has these slots, on a GPU.
    #[cfg(feature = "cube")]
    pub(crate) fn slab(&self) -> Option<&Arc<Slab>> {
        self.pool.slab()
    }

    /// The number of the first block that the cache still has.
    pub(crate) fn first_block(&self) -> usize {
        self.table.first
    }

    /// Where a layer is in the blocks, on the CPU.
    pub(crate) fn layer_layout(&self, layer: usize) -> Option<LayerLayout> {
        self.pool.stored().map(|stored| stored.panels.layer(layer))
    }

    /// The tensors of the whole capacity, on a device where it is contiguous.
    pub(super) fn layers(&self) -> Option<&Layers> {
        match self.table.blocks.first().map(|block| &***block) {
            Some(KvMemory::Tensors(layers)) => Some(layers),
            _ => None,
        }
    }

    /// As [`append`](Self::append), on a device where the capacity is contiguous: the tensors to write to.
    pub(crate) fn layers_mut(&mut self) -> Option<&mut Layers> {
        match self.table.blocks.first_mut().and_then(Arc::get_mut).map(|block| &mut **block) {
            Some(KvMemory::Tensors(layers)) => Some(layers),
            _ => None,
        }
    }

    pub(super) fn set_layers(&mut self, layers: Layers) {
        if !self.table.blocks.is_empty() {
            *self.table.block_mut(0) = KvMemory::Tensors(Box::new(layers));
        }
    }
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::*;

    const HEADS: KvHeads = KvHeads::new(1, 16);

    #[test]
    fn blocks_keep_their_panels_for_the_next_owner() {
        let block = 2 * 2 * 16 * 32 * 4;
        let pool = KvPool::new(vec![HEADS; 2], &Device::flex(), DType::F32, 5 * block + 1);
        assert_eq!((pool.block_bytes(), pool.max_blocks()), (block, 5));
        let mut two = pool.take_blocks(2).unwrap();
        let KvMemory::Panels(panels) = &mut *two[1] else {
            panic!("{two:?}");
        };
        let layer = BlockLayout::new([[1, 16]; 2], KvFormat::F32).layer(0);
        panels.write(layer, 0, &[1.0; 16], &[2.0; 16]);
        let id = two.pop().unwrap().id();
        let again = pool.take_blocks(1).unwrap();
        assert_eq!(again[0].id(), id);
        let [KvMemory::Panels(used), KvMemory::Panels(fresh)] = [&*again[0], &*two[0]] else {
            panic!("{again:?}");
        };
        assert_ne!(format!("{used:?}"), format!("{fresh:?}"), "what it holds is undefined");
    }

    #[test]
    fn memory_that_is_not_there_is_an_error_and_nothing_is_taken() {
        let layers = vec![KvHeads { n_kv_heads: 1 << 30, ..HEADS }];
        let pool = KvPool::new(layers, &Device::flex(), DType::F32, usize::MAX);
        let error = pool.take_blocks(1 << 15).unwrap_err();
        assert!(
            matches!(error, Error::Request(RequestError::CacheTooLarge { tokens: 0x10_0000, .. })),
            "{error}"
        );
        assert_eq!(pool.bytes(), 0);
    }
}
