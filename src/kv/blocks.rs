//! A KV cache in blocks of 32 positions, for the CPU kernels.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::kernels::{BLOCK, Block, BlockLayout};
use crate::memory;

/// The blocks of one sequence, in order. A clone shares them; a write to a shared block copies it
/// (copy-on-write).
#[derive(Debug, Clone)]
pub struct Blocks {
    layout: BlockLayout,
    blocks: Vec<Arc<Block>>,
}

impl Blocks {
    pub(super) fn new(layout: BlockLayout) -> Self {
        Self { layout, blocks: Vec::new() }
    }

    /// The layout of each block.
    pub(crate) fn layout(&self) -> BlockLayout {
        self.layout
    }

    /// The memory of all blocks, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.blocks.len() * self.layout.bytes()
    }

    /// Allocates the blocks of the first `length` positions.
    ///
    /// # Errors
    /// Too little memory.
    pub(super) fn reserve(&mut self, length: usize) -> Result<()> {
        let missing = length.div_ceil(BLOCK).saturating_sub(self.blocks.len());
        let bytes = missing as u128 * self.layout.bytes() as u128;
        if missing > 0 && !memory::fits(bytes) {
            return Err(Error::CacheTooLarge { tokens: length, bytes });
        }
        for _ in 0..missing {
            self.blocks.push(Arc::new(Block::new(self.layout)));
        }
        Ok(())
    }

    // ANCHOR: append
    /// Writes keys and values of one layer, both `[seq, n_kv_heads * head_dim]`, from position
    /// `start` on. Their blocks must have been reserved.
    pub(crate) fn append(&mut self, layer: usize, start: usize, keys: &[f32], values: &[f32]) {
        let width = self.layout.n_kv_heads * self.layout.head_dim;
        let seq = keys.len() / width;
        let mut done = 0;
        while done < seq {
            let (block, offset) = ((start + done) / BLOCK, (start + done) % BLOCK);
            let count = (BLOCK - offset).min(seq - done);
            let rows = done * width..(done + count) * width;
            let block = Arc::make_mut(&mut self.blocks[block]);
            block.write(layer, offset, &keys[rows.clone()], &values[rows]);
            done += count;
        }
    }
    // ANCHOR_END: append

    /// All blocks, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().map(Arc::as_ref)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Format;

    const LAYOUT: BlockLayout = BlockLayout {
        n_layers: 2,
        n_kv_heads: 1,
        head_dim: 16,
        format: Format::F32,
    };

    #[test]
    fn memory_that_is_not_there_is_an_error_and_nothing_is_taken() {
        let n_layers = 1 << 30;
        let mut blocks = Blocks::new(BlockLayout { n_layers, ..LAYOUT });
        let error = blocks.reserve(1 << 20).unwrap_err();
        assert!(matches!(error, Error::CacheTooLarge { tokens: 0x10_0000, .. }), "{error}");
        assert_eq!(blocks.bytes(), 0);
    }

    #[test]
    fn memory_is_taken_block_by_block() {
        let mut blocks = Blocks::new(LAYOUT);
        for (length, expected) in [(0, 0), (1, 1), (32, 1), (33, 2), (20, 2), (96, 3)] {
            blocks.reserve(length).unwrap();
            assert_eq!(blocks.bytes(), expected * 2 * 2 * 16 * 32 * 4, "{length}");
        }
    }

    /// Beams share blocks: a write copies only the block that it changes.
    #[test]
    fn a_clone_shares_its_blocks_until_it_is_written_to() {
        let mut blocks = Blocks::new(LAYOUT);
        blocks.reserve(64).unwrap();
        blocks.append(0, 0, &[1.0; 40 * 16], &[2.0; 40 * 16]);
        let mut clone = blocks.clone();
        clone.append(0, 40, &[3.0; 16], &[4.0; 16]);
        assert!(Arc::ptr_eq(&blocks.blocks[0], &clone.blocks[0]));
        assert!(!Arc::ptr_eq(&blocks.blocks[1], &clone.blocks[1]));
    }
}
