//! The tiles of a window.

use std::ops::Range;

/// What a group of queries sees of a tile of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tile {
    /// Every query attends to every position of it.
    Whole,
    /// Some query does not attend to some position of it: it needs a mask.
    Edge,
}

/// A kernel reads keys in tiles. With a window it can skip most of them, and needs a mask only at
/// the edges. Return the tiles that it has to look at for a group of queries, by their numbers, in
/// ascending order.
///
/// - Keys are stored in tiles of `size` positions: tile `n` has the positions from `n * size` on.
/// - `queries` are positions, at least one, one after the other. Each attends to `window`
///   positions, including its own, or to all up to its own.
/// - A tile is looked at if some query attends to some position of it, and no other tile is.
///
/// ```text
/// window_tiles(70..72, Some(40), 16)     the first query attends to 31..=70, the second to 32..=71
///
/// tile 1   16..=31   Edge      only the first query, only its last position
/// tile 2   32..=47   Whole
/// tile 3   48..=63   Whole
/// tile 4   64..=79   Edge      both queries end inside
/// ```
pub fn window_tiles(
    queries: Range<usize>,
    window: Option<usize>,
    size: usize,
) -> Vec<(usize, Tile)> {
    todo!()
}
