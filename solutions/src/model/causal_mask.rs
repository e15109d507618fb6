//! A causal mask with a window, also for tokens that come after cached ones.
//!
//! Why: rows and columns count from different places. Row `i` is the position `start + i`, and
//! column `j` is the position `j`. Later means `j > start + i`: everything above the diagonal,
//! shifted to the right by `start`. Too far back means `j + window <= start + i`: everything below
//! a second diagonal, `window - 1` columns further to the left, and that diagonal stays visible.
//! What lies between the two is visible.
//!
//! What it costs: `seq * (start + seq)` booleans. Keys that are too far back for all new tokens can
//! be dropped, which is what the window is for.
//!
//! A common wrong turn: forgetting `start`. Without a cache everything works, and with one the new
//! tokens see only the beginning of the text.

use burn::tensor::{Bool, Device, Tensor};

/// Which positions each of `seq` new tokens must not look at, after `start` cached ones, where it sees
/// `window` positions: `[seq, start + seq]`, true means hidden.
pub fn causal_mask(seq: usize, start: usize, window: usize, device: &Device) -> Tensor<2, Bool> {
    let total = start + seq;
    let later = Tensor::<2, Bool>::tril_mask([seq, total], start as i64, device);
    // Beyond `total` a window hides nothing, and its diagonal lies outside of the mask.
    let back = window.min(total) as i64 - 1;
    let too_far_back = Tensor::<2, Bool>::triu_mask([seq, total], start as i64 - back, device);
    later.bool_or(too_far_back)
}
