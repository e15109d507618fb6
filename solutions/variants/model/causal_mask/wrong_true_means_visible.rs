//! The mask the other way around: true where looking is allowed.

use burn::tensor::{Bool, Device, Tensor};

pub fn causal_mask(seq: usize, start: usize, device: &Device) -> Tensor<2, Bool> {
    Tensor::tril_mask([seq, start + seq], start as i64, device).bool_not()
}
