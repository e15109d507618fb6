//! A window as a mask: the causal mask, and a second diagonal below it.
//!
//! Why: a query at position `p` attends to `p + 1 - window` up to `p`. Both ends move by one from
//! row to row, so the mask is a band. Whether a key is in it depends only on positions, and a
//! column's position is its number plus the position of the first key that is left.
//!
//! What it costs: as much as the whole square. A kernel asks for the two ends of a row, and
//! computes nothing outside of them.
//!
//! A common wrong turn: a window that begins at `p - window`. It has one position too many, and the
//! text stays readable: only a comparison with a reference finds it.

use std::ops::Range;

/// Which keys each query of a sequence attends to: a row for each query, a column for each key, true where
/// the query attends to the key.
pub fn window_mask(queries: Range<usize>, first: usize, window: Option<usize>) -> Vec<Vec<bool>> {
    let row = |query: usize| {
        let oldest = (query + 1).saturating_sub(window.unwrap_or(usize::MAX));
        let seen = |key: usize| (oldest..=query).contains(&key);
        (first..queries.end).map(seen).collect()
    };
    queries.clone().map(row).collect()
}
