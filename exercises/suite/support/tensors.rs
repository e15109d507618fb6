//! Tensors to and from numbers that can be compared and shown.

use burn::tensor::{Bool, Device, Tensor, TensorData};

/// The CPU: the same on every machine.
pub fn device() -> Device {
    Device::flex()
}

/// All numbers of a tensor, the last dimension first to change.
pub fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().convert::<f32>().iter().collect()
}

/// The rows of a mask: 1 for true, 0 for false.
pub fn mask_rows(mask: Tensor<2, Bool>) -> Vec<Vec<u8>> {
    let [_, columns] = mask.dims();
    let cells: Vec<u8> = mask.into_data().iter::<bool>().map(u8::from).collect();
    cells.chunks(columns).map(<[u8]>::to_vec).collect()
}

/// A tensor of these numbers, the last dimension first to change.
pub fn tensor<const D: usize>(numbers: Vec<f32>, shape: [usize; D]) -> Tensor<D> {
    Tensor::from_data(TensorData::new(numbers, shape), &device())
}
