//! The blocks of one sequence, for the CPU kernels.

use std::sync::Arc;

use super::pool::{KvPool, SharedBlock};
use crate::error::Result;
use crate::kernels::{BLOCK, Block, BlockLayout};

/// The block table of one sequence: its blocks of 32 positions, in order. Several tables may share
/// a block.
#[derive(Debug)]
pub struct Blocks {
    pool: KvPool,
    blocks: Vec<SharedBlock>,
}

impl Blocks {
    pub(super) fn new(pool: &KvPool) -> Self {
        Self { pool: pool.clone(), blocks: Vec::new() }
    }

    /// The layout of each block.
    pub(crate) fn layout(&self) -> BlockLayout {
        self.pool.layout()
    }

    /// The memory of all blocks, in bytes. A shared block counts in each table.
    pub(super) fn bytes(&self) -> usize {
        self.blocks.len() * self.layout().bytes()
    }

    // ANCHOR: reserve
    /// Prepares the positions from `start` to `end` for writing: takes the missing blocks from the
    /// pool, and copies shared ones (copy-on-write).
    ///
    /// # Errors
    /// Too few blocks are left. Nothing has changed then.
    pub(super) fn reserve(&mut self, start: usize, end: usize) -> Result<()> {
        let first = (start / BLOCK).min(self.blocks.len());
        let missing = end.div_ceil(BLOCK).saturating_sub(self.blocks.len());
        let is_shared = |block: &&mut SharedBlock| Arc::strong_count(block) > 1;
        let shared = self.blocks[first..].iter_mut().filter(is_shared);
        let shared: Vec<&mut SharedBlock> = shared.collect();
        if missing + shared.len() == 0 {
            return Ok(());
        }
        let mut taken = self.pool.take(missing + shared.len())?.into_iter();
        for (block, mut copy) in shared.into_iter().zip(&mut taken) {
            copy.copy_from(block);
            *block = Arc::new(copy);
        }
        self.blocks.extend(taken.map(Arc::new));
        Ok(())
    }
    // ANCHOR_END: reserve

    // ANCHOR: append
    /// Writes keys and values of one layer, both `[seq, n_kv_heads * head_dim]`, from position
    /// `start` on. These positions must have been reserved.
    pub(crate) fn append(&mut self, layer: usize, start: usize, keys: &[f32], values: &[f32]) {
        let BlockLayout { n_kv_heads, head_dim, .. } = self.layout();
        let width = n_kv_heads * head_dim;
        let seq = keys.len() / width;
        let mut done = 0;
        while done < seq {
            let (block, slot) = ((start + done) / BLOCK, (start + done) % BLOCK);
            let count = (BLOCK - slot).min(seq - done);
            let rows = done * width..(done + count) * width;
            let Some(block) = Arc::get_mut(&mut self.blocks[block]) else {
                unreachable!("`reserve` has copied every shared block that is written to");
            };
            block.write(layer, slot, &keys[rows.clone()], &values[rows]);
            done += count;
        }
    }
    // ANCHOR_END: append

    /// All blocks, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().map(|block| &***block)
    }

    /// Gives back the blocks after the first `length` positions.
    pub(super) fn truncate(&mut self, length: usize) {
        self.blocks.truncate(length.div_ceil(BLOCK));
    }

    /// A table of the first `length` positions, which shares their blocks.
    pub(super) fn fork(&self, length: usize) -> Self {
        let blocks = self.blocks[..length.div_ceil(BLOCK)].to_vec();
        Self { pool: self.pool.clone(), blocks }
    }

    /// Appends a block that another table has filled.
    pub(super) fn push(&mut self, block: SharedBlock) {
        self.blocks.push(block);
    }

    pub(super) fn get(&self, index: usize) -> Option<&SharedBlock> {
        self.blocks.get(index)
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, Device};

    use super::*;
    use crate::error::Error;
    use crate::kv::KvShape;

    const SHAPE: KvShape = KvShape { n_layers: 2, n_kv_heads: 1, head_dim: 16 };
    const BYTES: usize = 2 * 2 * 16 * 32 * 4;

    fn pool(blocks: usize) -> KvPool {
        KvPool::new(SHAPE, &Device::default(), DType::F32, blocks * BYTES)
    }

    #[test]
    fn memory_is_taken_block_by_block() {
        let mut blocks = Blocks::new(&pool(3));
        for (length, expected) in [(0, 0), (1, 1), (32, 1), (33, 2), (20, 2), (96, 3)] {
            blocks.reserve(0, length).unwrap();
            assert_eq!(blocks.bytes(), expected * BYTES, "{length}");
        }
        let error = blocks.reserve(96, 97).unwrap_err();
        assert!(matches!(error, Error::KvPoolFull { .. }), "{error}");
        blocks.truncate(33);
        assert_eq!(blocks.bytes(), 2 * BYTES);
    }

    /// Beams share blocks: a write copies only the block that it changes.
    #[test]
    fn a_fork_shares_its_blocks_until_it_is_written_to() {
        let pool = pool(4);
        let mut blocks = Blocks::new(&pool);
        blocks.reserve(0, 64).unwrap();
        blocks.append(0, 0, &[1.0; 40 * 16], &[2.0; 40 * 16]);
        let mut fork = blocks.fork(40);
        assert_eq!(pool.bytes(), 2 * BYTES);
        fork.reserve(40, 41).unwrap();
        fork.append(0, 40, &[3.0; 16], &[4.0; 16]);
        assert!(Arc::ptr_eq(&blocks.blocks[0], &fork.blocks[0]));
        assert!(!Arc::ptr_eq(&blocks.blocks[1], &fork.blocks[1]));
        assert_eq!(pool.bytes(), 3 * BYTES);
        // The other is the only owner of its last block now.
        blocks.reserve(40, 41).unwrap();
        assert_eq!(pool.bytes(), 3 * BYTES);
    }

    #[test]
    fn a_copy_that_does_not_fit_changes_nothing() {
        let pool = pool(1);
        let mut blocks = Blocks::new(&pool);
        blocks.reserve(0, 5).unwrap();
        let mut fork = blocks.fork(5);
        assert!(fork.reserve(5, 6).is_err());
        assert!(Arc::ptr_eq(&blocks.blocks[0], &fork.blocks[0]));
        drop(fork);
        blocks.reserve(5, 6).unwrap();
    }
}
