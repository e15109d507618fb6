//! A block table: in which block, and at which offset in it, a position lies.
//!
//! Why: all blocks are equally large, so a division finds the entry of the table and its remainder
//! the offset. The entry names the block, which may lie anywhere in memory, so a sequence can grow
//! without being moved. The length is checked first, because a reserved block holds whatever its
//! last owner left there.
//!
//! What it costs: a division and one more load for each position. If the block size is a power of
//! two and known to the compiler, the division is a shift. Attention pays once for each block, and
//! reads the positions within it one after the other.
//!
//! A common wrong turn: taking the entry's index for the block. It works in every test in which the
//! first sequence gets the blocks 0, 1, 2.

/// The block table of one sequence.
#[derive(Debug, Clone)]
pub struct BlockTable {
    /// The ids of the blocks, in the order of the positions that they hold.
    pub blocks: Vec<u32>,
    /// How many positions are written.
    pub length: usize,
}

/// Where the keys and values of a position lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    pub block: u32,
    /// Which position of the block it is, from 0.
    pub offset: usize,
}

/// Looks up `positions` in a table whose blocks hold `block_size` positions each. `None` for what is
/// not written.
pub fn look_up(table: &BlockTable, block_size: usize, positions: &[usize]) -> Vec<Option<Place>> {
    let place = |&position: &usize| {
        if position >= table.length {
            return None;
        }
        let block = *table.blocks.get(position / block_size)?;
        Some(Place { block, offset: position % block_size })
    };
    positions.iter().map(place).collect()
}
