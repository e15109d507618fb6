//! A causal mask, also for tokens that come after cached ones.

use burn::tensor::{Bool, Device, Tensor};

/// Which positions each new token must not look at.
///
/// `start` tokens were computed before, `seq` tokens are new. The new token `i` stands at the
/// position `start + i` of the text. It may look at itself and at everything before it.
///
/// Returns `[seq, start + seq]`: row `i` is the new token `i`, column `j` is the position `j` of
/// the text, and true means hidden. `seq` is at least 1.
///
/// ```text
/// causal_mask(3, 0)      causal_mask(2, 2)       (1 is true)
///   0 1 1                  0 0 0 1
///   0 0 1                  0 0 0 0
///   0 0 0
/// ```
pub fn causal_mask(seq: usize, start: usize, device: &Device) -> Tensor<2, Bool> {
    todo!()
}
