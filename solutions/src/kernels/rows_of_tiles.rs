//! How many rows make a tile pay.
//!
//! Why: a matrix unit does 16 rows in the time of one. So a prompt and a large batch go through it,
//! and the decode step of a single user doesn't.
//!
//! What it costs: two ways through each linear layer. They must give the same bits, or a row would
//! change when others join it.
//!
//! A common wrong turn: to ask only from how many rows on a tile pays. Behind full tiles the question
//! comes again, for the rows that are left.

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

/// The cheapest way for `rows` rows.
pub fn split(rows: u64, costs: Costs) -> Split {
    let pays = |rows: u64| costs.tile + rows * costs.lay_out < rows * costs.row;
    let (full, left) = (rows / ROWS, rows % ROWS);
    let mut tiles = if pays(ROWS) { full } else { 0 };
    let mut alone = rows - tiles * ROWS;
    if alone == left && pays(left) {
        (tiles, alone) = (tiles + 1, 0);
    }
    let laid_out = rows - alone;
    let cycles = tiles * costs.tile + laid_out * costs.lay_out + alone * costs.row;
    Split { tiles, alone, cycles }
}
