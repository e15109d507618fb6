//! Truncating blocks: the keys and values of rejected guesses are dropped.
//!
//! Why: nothing is erased. Keys and values behind the length are never read, so a shorter table and
//! a smaller length are enough. A block belongs to all of its owners: each takes leave by itself,
//! and the last one frees it. How much of a shared block is written is not for one owner to decide.
//! This sequence knows from its length what it may read, and its next token goes into a copy.
//!
//! What it costs: a few numbers for each block that is given up. Guesses that cross the border of a
//! block take a block and give it back in the same step, so the allocator has to cope with that.
//!
//! A common wrong turn: `length % block_size` for what the last block holds. A block that is
//! exactly full would be empty.

/// A block of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// How many block tables hold it. A block without an owner is free.
    pub owners: u32,
    /// How many of its positions are written, from the first on. 0 in a free block.
    pub filled: usize,
}

/// All blocks of keys and values; the index is the block's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    /// How many positions a block has, at least 1.
    pub block_size: usize,
    pub blocks: Vec<Block>,
}

/// The block table of a sequence. It has as many blocks as `length` takes, and no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The ids of the blocks, in the order of the positions.
    pub blocks: Vec<usize>,
    /// How many positions are written.
    pub length: usize,
}

/// Truncates a sequence to `length` positions. Returns the blocks that are free now, in the order of
/// the table.
pub fn truncate_blocks(pool: &mut Pool, table: &mut Table, length: usize) -> Vec<usize> {
    if length >= table.length {
        return Vec::new();
    }
    table.length = length;
    let kept = length.div_ceil(pool.block_size);
    let mut freed = Vec::new();
    for id in table.blocks.drain(kept..) {
        let block = &mut pool.blocks[id];
        block.owners -= 1;
        if block.owners == 0 {
            block.filled = 0;
            freed.push(id);
        }
    }
    if let Some(&last) = table.blocks.last() {
        let block = &mut pool.blocks[last];
        if block.owners == 1 {
            block.filled = length - (kept - 1) * pool.block_size;
        }
    }
    freed
}
