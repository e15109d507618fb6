//! What a block is made of: keys and values, in the form in which the device computes with them, or nothing.

use std::sync::MutexGuard;

use super::block::Memory;
use super::pool::{Demand, Pool};
#[cfg(feature = "cube")]
use super::slab::Slot;
use super::{KvCache, KvPool};
#[cfg(feature = "burn")]
use super::{States, stored::Stored, tensors::Layers};
use crate::error::Result;
#[cfg(feature = "burn")]
use crate::kernels;
#[cfg(feature = "burn")]
pub(crate) use crate::kernels::BLOCK;

/// The positions of a block.
#[cfg(not(feature = "burn"))]
pub(crate) const BLOCK: usize = 32;

/// The keys and values of a block.
#[derive(Debug, Default)]
pub enum KvMemory {
    /// None: the block only counts. Those of a stub do.
    #[default]
    Counted,
    /// On the CPU: 32 positions, in the layout of the kernels.
    #[cfg(feature = "burn")]
    Panels(kernels::Block),
    /// On a GPU: 32 positions, in a slot of the memory that all blocks share there.
    #[cfg(feature = "cube")]
    Slot(Slot),
    /// Where no kernel of this crate computes, a sequence has tensors for its whole capacity. They belong to
    /// its first block, and the others only count.
    #[cfg(feature = "burn")]
    Tensors(Box<Layers>),
}

/// What all blocks of a model have in common.
#[derive(Debug)]
pub enum KvLayout {
    /// Nothing: keys and values are a stub's own affair.
    Counted,
    #[cfg(feature = "burn")]
    Stored(Stored),
}

impl Memory for KvMemory {
    type Layout = KvLayout;
    #[cfg(feature = "burn")]
    type States = States;
    #[cfg(not(feature = "burn"))]
    type States = ();

    fn allocate(layout: &KvLayout, blocks: usize) -> Result<Vec<Self>> {
        match layout {
            KvLayout::Counted => Ok((0..blocks).map(|_| Self::Counted).collect()),
            #[cfg(feature = "burn")]
            KvLayout::Stored(stored) => stored.allocate(blocks),
        }
    }

    fn copy_from(&mut self, other: &Self) {
        match (self, other) {
            #[cfg(feature = "burn")]
            (Self::Panels(panels), Self::Panels(other)) => panels.copy_from(other),
            #[cfg(feature = "cube")]
            (Self::Slot(slot), Self::Slot(other)) => slot.copy_from(other),
            _ => {}
        }
    }

    fn recycle(self) -> Self {
        match self {
            #[cfg(feature = "burn")]
            Self::Panels(_) => self,
            #[cfg(feature = "cube")]
            Self::Slot(_) => self,
            _ => Self::Counted, // tensors are of another capacity
        }
    }
}

impl KvPool {
    /// An empty pool of so many blocks without memory.
    pub(crate) fn counted(blocks: usize) -> Self {
        Pool::with_layout(KvLayout::Counted, 1, blocks)
    }

    /// Whether a sequence gets its blocks as it grows, and may share them.
    pub(crate) fn is_paged(&self) -> bool {
        match self.layout() {
            KvLayout::Counted => true,
            #[cfg(feature = "burn")]
            KvLayout::Stored(stored) => stored.is_paged(),
        }
    }

    /// Waits until no other pass computes with the memory of the blocks, on a device where they share it,
    /// and lets none begin as long as the result lives.
    pub(crate) fn hold(&self) -> Option<MutexGuard<'_, ()>> {
        #[cfg(feature = "cube")]
        return self.slab().map(|slab| slab.hold());
        #[cfg(not(feature = "cube"))]
        None
    }
}

/// What layers with states remember.
impl KvCache {
    /// The longest beginning of `length` tokens after which the states of all layers are known.
    pub(super) fn known(&self, length: usize) -> usize {
        #[cfg(feature = "burn")]
        return self.table.states.longest(length);
        #[cfg(not(feature = "burn"))]
        length
    }

    /// Copies the states of `other`.
    pub(super) fn copy_states(&mut self, other: &Self) -> Result<()> {
        let claimed = self.pool.state_blocks();
        if claimed > 0 && self.table.claim.is_none() {
            self.table.claim = self.pool.take(Demand { blocks: 0, claimed })?.claim;
        }
        #[cfg(feature = "burn")]
        self.table.states.clone_from(&other.table.states);
        let _ = other;
        Ok(())
    }

    /// The states.
    #[cfg(feature = "burn")]
    pub(crate) fn states_mut(&mut self) -> &mut States {
        &mut self.table.states
    }
}

/// The memory of the whole capacity, on a device where it is contiguous.
impl KvCache {
    /// Takes its blocks and allocates it.
    ///
    /// # Errors
    /// Too little memory, or a pool with less than that left.
    pub(super) fn reserve_whole(&mut self) -> Result<()> {
        #[cfg(feature = "burn")]
        if let KvLayout::Stored(stored) = self.pool.layout() {
            Layers::check_memory(stored, self.capacity)?;
        }
        let blocks = self.capacity.div_ceil(BLOCK);
        let states = self.pool.state_blocks();
        self.table.reserve(0..blocks, states, |demand| self.pool.take(demand))?;
        self.allocate_whole()
    }

    /// Allocates it, if it is not yet.
    pub(super) fn allocate_whole(&mut self) -> Result<()> {
        #[cfg(feature = "burn")]
        if let KvLayout::Stored(stored) = self.pool.layout()
            && !stored.is_paged()
            && self.layers().is_none()
        {
            self.set_layers(Layers::new(stored, self.capacity)?);
        }
        Ok(())
    }

    /// Copies what `other` holds.
    pub(super) fn copy_whole(&mut self, other: &Self) -> Result<()> {
        let (blocks, states) = (other.table.blocks.len(), self.pool.state_blocks());
        self.table.reserve(0..blocks, states, |demand| self.pool.take(demand))?;
        self.copy_states(other)?;
        #[cfg(feature = "burn")]
        if let Some(layers) = other.layers() {
            self.set_layers(layers.clone());
        }
        Ok(())
    }

    /// Its size in bytes.
    pub(super) fn whole_bytes(&self) -> Option<usize> {
        #[cfg(feature = "burn")]
        return self.layers().map(Layers::bytes);
        #[cfg(not(feature = "burn"))]
        None
    }
}
