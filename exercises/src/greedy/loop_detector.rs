//! Detecting a repetition loop as early as possible.

/// A loop that a text is stuck in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop {
    /// How many tokens had come when you noticed it.
    pub seen: usize,
    /// How many tokens the repeated block has.
    pub period: usize,
}

/// Greedy likes to run in circles, and the chapter notices it once the text is finished. A
/// generator would rather stop the moment the loop is there. So after each token, ask: does the
/// text so far end with `copies` copies of one block, each directly behind the other? Return how
/// many tokens had come when the answer was first yes, and how long the block is.
///
/// - `ids` holds the tokens in the order in which they came.
/// - `copies` is at least 2, and may be so many that no text could hold them. All of them are
///   whole.
/// - Only blocks of 1 to `longest` tokens count, and `longest` is at least 1. Both numbers may be
///   any `usize`, even the largest.
/// - The loop doesn't have to last: what comes after it changes nothing.
/// - Two lengths can't be noticed first at the same token, so there is no tie to settle.
///
/// ```text
/// ids  9 1 2 1 2 1 2 5          copies 3, longest 4
///        --- --- ---            after 7 tokens: three times the block 1 2
///
/// loop_detector(&ids, 3, 4)  -> Some(seen 7, period 2)
/// loop_detector(&ids, 2, 4)  -> Some(seen 5, period 2)
/// loop_detector(&ids, 3, 1)  -> None
/// ```
pub fn loop_detector(ids: &[u32], copies: usize, longest: usize) -> Option<Loop> {
    todo!()
}
