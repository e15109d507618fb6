//! Linear layers and embeddings over panels, as cube kernels.
//!
//! The weights stay packed in the device's memory, and each unit unpacks those that it multiplies.
//!
//! A product is summed in one order, however many rows there are: along the inputs there are 32
//! slices, of which slice `s` has the groups `s`, `s + 32`, `s + 64`. A slice adds its products in
//! order, and the sums of the slices are added in order. For few rows, the slices are computed by as
//! many units, and for many rows by one after the other. So a row has the same bits alone and among
//! others.

mod few_rows;
mod lookup;
mod many_rows;
#[cfg(test)]
mod tests;

use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Backend, Dispatch, backend_extension};
use burn::tensor::{DType, Int, Tensor};
use burn_cubecl::CubeBackend;
use burn_cubecl::cubecl::client::Client;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;

use super::packing::Packing;
use crate::kernels::PanelFormat;

/// Slices of the inputs.
const SLICES: usize = 32;

/// Up to so many rows, each is computed with a share of the units.
const FEW_ROWS: usize = 64;

/// The shape of a matrix in panels, and how they are packed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matrix {
    pub(crate) format: PanelFormat,
    pub(crate) n_out: usize,
    pub(crate) n_in: usize,
}

impl Matrix {
    fn packing(self) -> Packing {
        self.format.into()
    }
}

/// What the network asks of panels.
#[backend_extension(Cube)]
pub(crate) trait PanelOps: Backend {
    /// `[rows, n_in]` -> `[rows, n_out]`
    fn panel_product(
        x: FloatTensor<Self>,
        words: IntTensor<Self>,
        matrix: Matrix,
    ) -> FloatTensor<Self>;

    /// Ids `[rows]` -> `[rows, n_in]`, as `dtype`.
    fn panel_lookup(
        ids: IntTensor<Self>,
        words: IntTensor<Self>,
        matrix: Matrix,
        dtype: DType,
    ) -> FloatTensor<Self>;
}

impl PanelOps for CubeBackend {
    fn panel_product(
        x: FloatTensor<Self>,
        words: IntTensor<Self>,
        matrix: Matrix,
    ) -> FloatTensor<Self> {
        let x = into_contiguous(x);
        let (client, device, dtype) = (x.client.clone(), x.device.clone(), x.dtype);
        let rows = x.meta.shape()[0];
        let shape = [rows, matrix.n_out].into();
        let y = empty_device_contiguous_dtype(client.clone(), device, shape, dtype);
        if rows <= FEW_ROWS || computes_on_host(&client) {
            few_rows::launch(x, words, y.clone(), rows, matrix);
        } else {
            many_rows::launch(x, words, y.clone(), rows, matrix);
        }
        y
    }

    fn panel_lookup(
        ids: IntTensor<Self>,
        words: IntTensor<Self>,
        matrix: Matrix,
        dtype: DType,
    ) -> FloatTensor<Self> {
        let ids = into_contiguous(ids);
        let shape = [ids.meta.shape()[0], matrix.n_in].into();
        let (client, device) = (ids.client.clone(), ids.device.clone());
        let y = empty_device_contiguous_dtype(client, device, shape, dtype);
        lookup::launch(ids, words, y.clone(), matrix);
        y
    }
}

/// Whether cubes are computed by the CPU. Units that wait for each other are threads there: one
/// computes the work of a whole cube.
fn computes_on_host(client: &Client) -> bool {
    client.properties().hardware.num_cpu_cores.is_some()
}

/// Multiplies rows by the matrix whose panels are in `words`: `[rows, n_in]` -> `[rows, n_out]`.
pub(crate) fn product(x: Tensor<2>, words: Tensor<1, Int>, matrix: Matrix) -> Tensor<2> {
    let (x, words) = (x.into_dispatch(), words.into_dispatch());
    Tensor::from_dispatch(<Dispatch as PanelOps>::panel_product(x, words, matrix))
}

/// The rows of ids in the embedding whose panels are in `words`: `[rows]` -> `[rows, n_in]`, as
/// `dtype`.
pub(crate) fn lookup(
    ids: Tensor<1, Int>,
    words: Tensor<1, Int>,
    matrix: Matrix,
    dtype: DType,
) -> Tensor<2> {
    let (ids, words) = (ids.into_dispatch(), words.into_dispatch());
    Tensor::from_dispatch(<Dispatch as PanelOps>::panel_lookup(ids, words, matrix, dtype))
}
