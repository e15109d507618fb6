//! The blocks behind the window.

use std::ops::Range;

/// Behind a window lie blocks that nobody will read again, and their memory could serve somebody
/// else. Which blocks does a sequence still have to hold when `length` of its positions are
/// written?
///
/// - Block `n` has the positions from `n * block_size` on, of all layers.
/// - `windows` has an entry for each layer: how many positions a query attends to, including its
///   own, or `None` for all of them.
/// - A block stays as long as any layer may read from it. The next query is the one at position
///   `length`.
/// - The last block is the one with the last written position. Blocks are taken when they are
///   written to, so there may be none.
///
/// A hit in the prefix cache of `length` positions needs the same blocks.
///
/// ```text
/// needed_blocks(100, &[Some(40)], 16)            3..7     the next query attends to 61..=100
/// needed_blocks(100, &[Some(40), Some(8)], 16)   3..7     the widest window decides
/// needed_blocks(100, &[Some(40), None], 16)      0..7     a layer without a window reads all
/// ```
pub fn needed_blocks(length: usize, windows: &[Option<usize>], block_size: usize) -> Range<usize> {
    todo!()
}
