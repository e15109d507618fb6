//! The mask of a window, over the keys that are left.

use std::ops::Range;

/// A layer with a window looks back only so far, so the older keys may be gone. Which of the
/// remaining keys does each query of a sequence attend to? Return a row for each query, a column
/// for each key, true where the query attends to the key.
///
/// - `queries` are the positions of the new tokens. The keys are at the positions from `first` up
///   to the last query: everything before `first` was given back.
/// - A query attends to no later position, and to at most `window` positions, including its own.
///   `None`: to all of them.
/// - `window` is at least 1, and no query needs a position before `first`.
///
/// ```text
/// window_mask(3..5, 1, Some(3))
///
/// position of the key       1     2     3     4
/// the query at 3        [true, true, true, false]
/// the query at 4        [false, true, true, true]
/// ```
pub fn window_mask(queries: Range<usize>, first: usize, window: Option<usize>) -> Vec<Vec<bool>> {
    todo!()
}
