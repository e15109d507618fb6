//! Between the engine's numbers and Burn's tensors.

use burn::tensor::{Device, Tensor, TensorData};
use your_engine::parts::{Heads, Rows};

/// `[heads][seq][head_dim]` -> `[1, heads, seq, head_dim]`
pub fn tensor(heads: &[Rows]) -> Tensor<4> {
    let shape = [1, heads.len(), heads[0].len(), heads[0][0].len()];
    let numbers: Vec<f32> = heads.iter().flatten().flatten().copied().collect();
    Tensor::from_data(TensorData::new(numbers, shape), &Device::flex())
}

/// The way back.
pub fn heads(tensor: Tensor<4>) -> Heads {
    let [_, _, seq, width] = tensor.dims();
    let numbers: Vec<f32> = tensor.into_data().iter::<f32>().collect();
    let rows: Rows = numbers.chunks(width.max(1)).map(<[f32]>::to_vec).collect();
    rows.chunks(seq.max(1)).map(<[Vec<f32>]>::to_vec).collect()
}
