//! A causal mask with a window, also for tokens that come after cached ones.

use burn::tensor::{Bool, Device, Tensor};

/// A token must not look at what comes after it. Some models also stop it from looking too far
/// back: that keeps the cost of a long text down. Your mask has to hide both, and some positions
/// may be in the cache already.
///
/// `start` tokens were computed before, and `seq` tokens are new. The new token `i` stands at the
/// position `start + i` of the text. It may look at itself and at the `window - 1` positions before
/// it. Everything later is hidden, as in the chapter, and so is everything further back.
///
/// Returns `[seq, start + seq]`: row `i` is the new token `i`, column `j` is the position `j` of
/// the text, and true means hidden. `seq` and `window` are at least 1. A window may be longer than
/// the text, up to the largest `usize`: then nothing is too far back.
///
/// ```text
/// causal_mask(3, 0, 9)   causal_mask(2, 2, 9)   causal_mask(2, 2, 2)       (1 is true)
///   0 1 1                  0 0 0 1                1 0 0 1
///   0 0 1                  0 0 0 0                1 1 0 0
///   0 0 0
/// ```
pub fn causal_mask(seq: usize, start: usize, window: usize, device: &Device) -> Tensor<2, Bool> {
    todo!()
}
