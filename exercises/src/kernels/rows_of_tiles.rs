//! How many rows make a tile pay.

/// How many rows of `x` a tile takes at once.
pub const ROWS: u64 = 16;

/// What a part of a matrix costs, in cycles.
#[derive(Debug, Clone, Copy)]
pub struct Costs {
    /// One product of tiles, however many of its rows are used.
    pub tile: u64,
    /// Rounding one row and laying it out for a tile.
    pub lay_out: u64,
    /// The product of one row without tiles.
    pub row: u64,
}

/// How many rows are multiplied in which way.
#[derive(Debug, PartialEq)]
pub struct Split {
    /// Products of tiles.
    pub tiles: u64,
    /// Rows that are multiplied without tiles.
    pub alone: u64,
    /// What all of it costs.
    pub cycles: u64,
}

/// A product of tiles takes as long for one row as for sixteen. So which rows should go through the
/// matrix unit? Return the cheapest way for `rows` rows.
///
/// - A tile takes up to [`ROWS`] rows, and each of them must be laid out.
/// - Fill each tile before you begin the next, so at most one has room left.
/// - The rows that are left behind full tiles go through one more tile, or all of them alone.
/// - If both ways cost the same, rows go alone.
///
/// ```text
/// tile 40, lay_out 1, row 10
///
///  5 rows   a tile costs 40 + 5 = 45, alone 50         1 tile
/// 20 rows   one full tile, 40 + 16 = 56 instead of 160;
///           a tile for 4 more costs 44, alone 40       1 tile and 4 rows, 96 cycles
/// ```
pub fn split(rows: u64, costs: Costs) -> Split {
    todo!()
}
