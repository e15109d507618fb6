//! What the parts for other models take and return.

use super::Rows;

/// What a group of queries sees of a tile of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TileKind {
    Whole,
    Edge,
}

/// Computes one expert for a token, by its number.
pub type Expert<'a> = dyn FnMut(usize) -> Vec<f32> + 'a;

/// Computes one expert, by its number, for some rows.
pub type ExpertOfRows<'a> = dyn FnMut(usize, &[Vec<f32>]) -> Rows + 'a;
