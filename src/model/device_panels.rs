//! Panels in the memory of a device.

use burn::module::Module;
use burn::tensor::{AllocationProperty, Bytes, DType, Device, Int, Tensor, TensorData};

use crate::cube::linear::{self, Matrix};
use crate::kernels::Panels;

/// The panels of a matrix `[out, in]` in the memory of a device, packed as for the CPU.
#[derive(Module, Debug)]
pub struct DevicePanels {
    /// All bytes, as words of 32 bits.
    words: Tensor<1, Int>,
    #[module(skip)]
    matrix: Matrix,
    /// The type of activations.
    #[module(skip)]
    dtype: DType,
}

impl DevicePanels {
    /// Copies panels to a device that computes in `dtype`.
    pub(crate) fn upload(panels: Panels, device: &Device, dtype: DType) -> Self {
        let [n_out, n_in] = panels.shape();
        let matrix = Matrix { format: panels.format(), n_out, n_in };
        let bytes = panels.into_bytes();
        let shape = [bytes.len() / size_of::<u32>()];
        let bytes = Bytes::from_shared(bytes, AllocationProperty::Other);
        let data = TensorData::from_bytes(bytes, shape, DType::U32);
        let words = Tensor::from_data(data, (device, DType::U32));
        Self { words, matrix, dtype }
    }

    /// `[batch, seq, in]` -> `[batch, seq, out]`
    pub(crate) fn product(&self, x: Tensor<3>) -> Tensor<3> {
        let [batch, seq, n_in] = x.dims();
        let x = x.reshape([batch * seq, n_in]);
        let y = linear::product(x, self.words.clone(), self.matrix);
        y.reshape([batch, seq, self.matrix.n_out])
    }

    /// `[batch, seq]` -> `[batch, seq, in]`
    pub(crate) fn rows(&self, ids: Tensor<2, Int>) -> Tensor<3> {
        let [batch, seq] = ids.dims();
        let ids = ids.reshape([batch * seq]);
        let rows = linear::lookup(ids, self.words.clone(), self.matrix, self.dtype);
        rows.reshape([batch, seq, self.matrix.n_in])
    }
}
