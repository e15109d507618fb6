//! The mask of the chapter, without a window.

use burn::tensor::{Bool, Device, Tensor};

pub fn causal_mask(seq: usize, start: usize, window: usize, device: &Device) -> Tensor<2, Bool> {
    let total = start + seq;
    let later = Tensor::<2, Bool>::tril_mask([seq, total], start as i64, device);
    // Beyond `total` a window hides nothing, and its diagonal lies outside of the mask.
    let back = window.min(total) as i64 - 1;
    let too_far_back = Tensor::<2, Bool>::triu_mask([seq, total], start as i64 - back, device);
    let _ = too_far_back;
    later
}
