//! The cached tokens are forgotten: the diagonal starts at the left edge.

use burn::tensor::{Bool, Device, Tensor};

pub fn causal_mask(seq: usize, start: usize, device: &Device) -> Tensor<2, Bool> {
    Tensor::tril_mask([seq, start + seq], 0, device)
}
