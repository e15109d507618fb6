//! Blocks without memory, which only count: those of a build without Burn.

use super::{KvCache, KvPool};
use crate::error::Result;

/// The positions of a block.
pub(crate) const BLOCK: usize = 32;

/// Keys and values are the network's own affair.
pub type KvMemory = ();

impl KvPool {
    /// Whether a sequence gets its blocks as it grows, and may share them.
    pub(crate) fn is_paged(&self) -> bool {
        true
    }
}

/// As all caches are paged, none has memory for its whole capacity.
impl KvCache {
    pub(super) fn reserve_whole(&mut self) -> Result<()> {
        Ok(())
    }

    pub(super) fn allocate_whole(&mut self) -> Result<()> {
        Ok(())
    }

    pub(super) fn copy_whole(&mut self, _: &Self) -> Result<()> {
        Ok(())
    }

    pub(super) fn whole_bytes(&self) -> Option<usize> {
        None
    }
}
