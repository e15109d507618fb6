//! A block table: in which block, and at which offset in it, a position lies.

/// The block table of one sequence.
#[derive(Debug, Clone)]
pub struct BlockTable {
    /// The ids of the blocks. The first holds the first positions of the sequence, the second the
    /// next ones, and so on. The ids are in no order, and don't have to be adjacent.
    pub blocks: Vec<u32>,
    /// How many positions are written. There are at least as many blocks as that takes; there may
    /// be more, reserved for what comes.
    pub length: usize,
}

/// Where the keys and values of a position lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    pub block: u32,
    /// Which position of the block it is, from 0.
    pub offset: usize,
}

/// For attention a sequence is one list of positions, but in memory its blocks are scattered. Where
/// does each of `positions` lie, in a table whose blocks hold `block_size` positions each?
///
/// - Return one entry for each of `positions`, in their order. They may come in any order, more
///   than once, and be any `usize`.
/// - `None` for a position that is not written, even if a block is reserved for it.
/// - `block_size` is at least 1, and may be any number, not only a power of two.
///
/// ```text
/// block_size 4, blocks 7 2 5, length 9
///
/// positions 0 1 2 3     block 7, offsets 0 1 2 3
/// positions 4 5 6 7     block 2, offsets 0 1 2 3
/// position  8           block 5, offset  0
///
/// positions 5, 0, 8, 9    ->    block 2 offset 1,  block 7 offset 0,  block 5 offset 0,  None
/// ```
pub fn look_up(table: &BlockTable, block_size: usize, positions: &[usize]) -> Vec<Option<Place>> {
    todo!()
}
