//! A causal mask, also for tokens that come after cached ones.
//!
//! Why: rows and columns count from different places. Row `i` is the position `start + i`, and
//! column `j` is the position `j`. Later is `j > start + i`, which is all that lies above the
//! diagonal shifted to the right by `start`.
//!
//! What it costs: `seq * (start + seq)` booleans. For one new token all are false, and the mask
//! can be left out.
//!
//! A common wrong turn: to forget `start`. Everything works without a cache, and with one the new
//! tokens see only the beginning of the text.

use burn::tensor::{Bool, Device, Tensor};

/// Which positions each of `seq` new tokens must not look at, after `start` cached ones: `[seq,
/// start + seq]`, true means hidden.
pub fn causal_mask(seq: usize, start: usize, device: &Device) -> Tensor<2, Bool> {
    Tensor::tril_mask([seq, start + seq], start as i64, device)
}
