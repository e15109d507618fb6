//! Strict where it should be inclusive: a token does not see itself.

use burn::tensor::{Bool, Device, Tensor};

pub fn causal_mask(seq: usize, start: usize, device: &Device) -> Tensor<2, Bool> {
    Tensor::tril_mask([seq, start + seq], start as i64 - 1, device)
}
