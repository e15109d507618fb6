//! The tiles of a window: from the first query's first key to the last query's last.
//!
//! Why: attention costs what it looks at. The windows of neighbouring queries overlap, so together
//! they are one range of positions. Tiles before it and after it are not read. Most tiles in it are
//! seen whole by all queries: from the last query's first key to the first query's position. Only
//! the others need a mask.
//!
//! What it costs: two divisions. The work that is left is bounded by the window and the group,
//! however long the text is.
//!
//! A common wrong turn: the tiles of the last query. The first one begins earlier.

use std::ops::Range;

/// What a group of queries sees of a tile of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tile {
    /// Every query attends to every position of it.
    Whole,
    /// Some query does not attend to some position of it: it needs a mask.
    Edge,
}

/// The tiles that a kernel has to look at for a group of queries, by their numbers, in ascending order.
pub fn window_tiles(
    queries: Range<usize>,
    window: Option<usize>,
    size: usize,
) -> Vec<(usize, Tile)> {
    let oldest = |query: usize| (query + 1).saturating_sub(window.unwrap_or(usize::MAX));
    let seen_by_all = oldest(queries.end - 1)..queries.start + 1;
    let tiles = oldest(queries.start) / size..queries.end.div_ceil(size);
    let kind = |tile: usize| {
        let (start, end) = (tile * size, (tile + 1) * size);
        if seen_by_all.start <= start && end <= seen_by_all.end {
            Tile::Whole
        } else {
            Tile::Edge
        }
    };
    tiles.map(|tile| (tile, kind(tile))).collect()
}
