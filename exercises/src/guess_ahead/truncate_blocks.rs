//! Truncating blocks: the keys and values of rejected guesses are dropped.

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

/// Rejected guesses have left keys and values behind, and other sequences may be reading the same
/// blocks. Truncate a sequence to `length` positions, and return the blocks that are free now, in
/// the order of the table.
///
/// - The table keeps as many blocks as `length` takes.
/// - Each block that it gives up loses an owner. One that had no other owner is free then.
/// - If the last block that is kept has no other owner, `filled` becomes the part of it that
///   `length` takes.
/// - A block that others hold too is not written: its `filled` stays, because others may read what
///   is behind `length`. That is true of a block that is kept and of one that is given up.
/// - If `length` is not less than the table's, nothing changes.
///
/// ```text
/// block_size 4, table: blocks 7 2 5, length 9
///
/// block 7   2 owners, 4 filled          truncate_blocks(pool, table, 6) -> [5]
/// block 2   1 owner,  4 filled          block 2   1 owner,  2 filled
/// block 5   1 owner,  1 filled          block 5   0 owners, 0 filled
///
///                                       truncate_blocks(pool, table, 3) -> [2]
///                                       block 2   0 owners, 0 filled
///                                       block 7   2 owners, 4 filled, as before
/// ```
pub fn truncate_blocks(pool: &mut Pool, table: &mut Table, length: usize) -> Vec<usize> {
    todo!()
}
