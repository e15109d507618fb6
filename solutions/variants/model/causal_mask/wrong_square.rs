//! Only the new tokens have columns.

use burn::tensor::{Bool, Device, Tensor};

pub fn causal_mask(seq: usize, start: usize, device: &Device) -> Tensor<2, Bool> {
    Tensor::tril_mask([seq, seq], 0, device)
}
