//! The mask of a window, over the keys that are left.

use std::ops::Range;

/// Which keys each query of a sequence attends to: a row for each query, a column for each key, true where
/// the query attends to the key.
///
/// - `queries` are the positions of the new tokens. The keys are those of the positions from `first` up to
///   the last of them: what is before `first` was given back.
/// - A query attends to no later position, and to `window` positions at most, up to its own and with it.
///   None: to all of them.
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
