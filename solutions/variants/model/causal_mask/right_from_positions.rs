//! By comparing positions, the new ones as a column and all as a row.

use burn::tensor::{Bool, Device, Int, Tensor};

pub fn causal_mask(seq: usize, start: usize, device: &Device) -> Tensor<2, Bool> {
    let total = start + seq;
    let new = Tensor::<1, Int>::arange(start as i64..total as i64, device);
    let all = Tensor::<1, Int>::arange(0..total as i64, device);
    let later = all.unsqueeze::<2>().expand([seq, total]);
    later.greater(new.reshape([seq, 1]).expand([seq, total]))
}
