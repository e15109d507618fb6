//! What is behind all windows is given back.
//!
//! Why: no later query attends further back than the next one does. So a block whose last position
//! is before the window of the next query is never read again. A block holds the positions of all
//! layers, so the layer that looks back furthest decides.
//!
//! What it costs: two divisions after each step. What it gains is a text without a limit in a fixed
//! memory, if all layers have a window. One layer without a window, and all blocks stay. An engine
//! that keeps a pool for each kind of layer can still give back the blocks of the other layers.
//!
//! A common wrong turn: asking what the last query needed. The next one needs a position less.

use std::ops::Range;

/// The numbers of the blocks that a sequence has to hold when `length` of its positions are written.
pub fn needed_blocks(length: usize, windows: &[Option<usize>], block_size: usize) -> Range<usize> {
    let oldest = |window: &Option<usize>| match window {
        Some(window) => (length + 1).saturating_sub(*window),
        None => 0,
    };
    let oldest = windows.iter().map(oldest).min().unwrap_or(0);
    oldest / block_size..length.div_ceil(block_size)
}
