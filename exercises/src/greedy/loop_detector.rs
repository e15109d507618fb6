//! Detecting a repetition loop as early as possible.

/// A loop that a text runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop {
    /// How many tokens had come when it was noticed.
    pub seen: usize,
    /// How many tokens the block has that is repeated.
    pub period: usize,
}

/// At which token a program that reads a text as it comes first notices that it runs in a loop.
///
/// The chapter looks at a text that is finished. A generator would rather stop at the moment at
/// which the loop is there. After each token it asks: does the text so far end with `copies` copies of
/// one block, one directly behind the other? Returned are how many tokens had come when it first did,
/// and how long the block is.
///
/// - `ids` holds the tokens in the order in which they came.
/// - `copies` is at least 2, and may be so many that no text could hold them. All of them are whole.
/// - Only blocks of 1 to `longest` tokens count, and `longest` is at least 1. Both numbers may be as
///   great as a `usize` can be.
/// - The loop need not last: what comes after it changes nothing.
/// - Two lengths cannot be noticed first at the same token, so there is no tie to settle.
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
