//! Linear layers and embeddings over panels, as cube kernels.
//!
//! The weights stay packed in the device's memory, and each unit unpacks those that it multiplies.
//!
//! A product is summed in one order, however many rows there are: along the inputs there are 32
//! slices, of which slice `s` has the groups `s`, `s + 32`, `s + 64`. A slice adds its products in
//! order, and the sums of the slices are added in order. For few rows, the slices are computed by as
//! many units, and for many rows by one after the other. So a row has the same bits alone and among
//! others, whichever kernel computes it. Where a device has [`tensor_cores`], these add in an order of their
//! own, which is also one for any number of rows.

mod few_rows;
mod lookup;
mod many_rows;
mod tensor_cores;
#[cfg(test)]
mod tests;
mod unpack;

use std::ops::Range;

use burn::tensor::{DType, Int, Tensor};
use burn_cubecl::cubecl;
use burn_cubecl::cubecl::client::Client;
use burn_cubecl::cubecl::prelude::*;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;

use super::packing::Packing;
use super::{client, empty, from_cube, into_cube};
use crate::activation::Activation;
use crate::kernels::{LANES, PanelFormat, Precision};

/// Slices of the inputs.
const SLICES: usize = 32;

/// Up to so many rows, each is computed with a share of the units.
const FEW_ROWS: usize = 64;

/// Matrices of the same inputs and format, whose panels follow each other in one buffer: their products
/// are one launch.
#[derive(Debug, Clone)]
pub(crate) struct Matrices {
    pub(crate) format: PanelFormat,
    pub(crate) n_in: usize,
    /// Of each matrix.
    pub(crate) n_out: Vec<usize>,
}

impl Matrices {
    fn packing(&self) -> Packing {
        self.format.into()
    }

    /// The outputs of a matrix, as [`lookup`] counts them: each matrix begins with a panel.
    pub(crate) fn ids_of(&self, matrix: usize) -> Range<i64> {
        let first = (panels(&self.n_out[..matrix]) * LANES) as i64;
        first..first + self.n_out[matrix] as i64
    }
}

/// The panels of matrices with so many outputs.
fn panels(n_out: &[usize]) -> usize {
    n_out.iter().map(|n_out| n_out.div_ceil(LANES)).sum()
}

/// Some of the matrices in a buffer, and where their results are in another: one after the other, each
/// `[rows, n_out]`.
struct Outputs {
    /// Before those of the first matrix.
    first_panel: usize,
    panels: usize,
    /// Of each matrix.
    n_out: Vec<usize>,
    /// Where the rows of each matrix begin, and where all end.
    starts: Vec<usize>,
}

/// The products with those matrices in `words` that are in `range`, in one launch: `[rows, n_in]` ->
/// `[rows, n_out]` for each.
pub(crate) fn products(
    x: Tensor<2>,
    words: Tensor<1, Int>,
    matrices: &Matrices,
    range: Range<usize>,
) -> Vec<Tensor<2>> {
    let (x, words) = (into_contiguous(into_cube(x)), into_cube(words));
    let rows = x.meta.shape()[0];
    let outputs = Outputs::new(matrices, range, rows, numbers_of_alignment(&x));
    let y = empty(&x, [outputs.numbers()], x.dtype);
    if tensor_cores::can_multiply(&x.client, x.dtype, matrices) {
        tensor_cores::launch(x, words, y.clone(), rows, matrices, &outputs, None);
    } else if rows <= FEW_ROWS || computes_on_host(&x.client) {
        few_rows::launch(x, words, y.clone(), rows, matrices, &outputs);
    } else {
        many_rows::launch(x, words, y.clone(), rows, matrices, &outputs);
    }
    (0..outputs.n_out.len()).map(|i| from_cube(outputs.rows_of(&y, i, rows))).collect()
}

/// What a gate makes of the products with two matrices, `activation(gate) * up`, in one launch: `[rows, n_in]` ->
/// `[rows, n_out]`. The bits are those of [`products`] and [`gated`](super::gate::gated). None where no kernel does
/// both.
pub(crate) fn gated_product(
    x: Tensor<2>,
    words: Tensor<1, Int>,
    matrices: &Matrices,
    activation: Activation,
) -> Option<Tensor<2>> {
    let [rows, _] = x.dims();
    let client = client(&x.device())?;
    let are_alike = matches!(*matrices.n_out, [gate, up] if gate == up);
    if !are_alike
        || rows > tensor_cores::FEW_ROWS
        || !tensor_cores::can_multiply(&client, x.dtype(), matrices)
    {
        return None;
    }
    let (x, words) = (into_contiguous(into_cube(x)), into_cube(words));
    let outputs = Outputs::new(matrices, 0..1, rows, numbers_of_alignment(&x));
    let y = empty(&x, [rows, matrices.n_out[0]], x.dtype);
    tensor_cores::launch(x, words, y.clone(), rows, matrices, &outputs, Some(activation));
    Some(from_cube(y))
}

/// Whether Burn has a faster product, though not in one order of sums: with weights that have 16 bits, as
/// the activations, where the device has units for products of matrices that no kernel here uses, and there are
/// rows to fill them.
///
/// With f32 it has not: it would round both sides to the 10 bits of tf32.
pub(crate) fn is_for_burn(x: &Tensor<2>, matrices: &Matrices) -> bool {
    let [rows, _] = x.dims();
    let format = match x.dtype() {
        DType::F16 => Precision::F16,
        DType::BF16 => Precision::Bf16,
        _ => return false,
    };
    rows > FEW_ROWS
        && matrices.format == PanelFormat::Dense(format)
        && client(&x.device()).is_some_and(|client| {
            !client.features().matmul.cmma.is_empty()
                && !tensor_cores::can_multiply(&client, x.dtype(), matrices)
        })
}

/// All weights of those matrices that are in `range`, side by side, as a product takes them on its right:
/// `[n_in, n_out of all]`. None where it would have gaps, or where weights are not in 16 bits.
pub(crate) fn unpack(
    words: Tensor<1, Int>,
    matrices: &Matrices,
    range: Range<usize>,
    dtype: DType,
) -> Option<Tensor<2>> {
    let n_outs = &matrices.n_out[range.clone()];
    let is_dense = match matrices.format {
        PanelFormat::Dense(Precision::F16) => dtype == DType::F16,
        PanelFormat::Dense(Precision::Bf16) => dtype == DType::BF16,
        _ => false,
    };
    if !is_dense || !n_outs.iter().all(|n_out| n_out.is_multiple_of(LANES)) {
        return None;
    }
    let first_panel = panels(&matrices.n_out[..range.start]);
    let words = into_cube(words);
    let shape = [matrices.n_in, n_outs.iter().sum()];
    let y = empty(&words, shape, dtype);
    unpack::launch(words, y.clone(), matrices.n_in, first_panel);
    Some(from_cube(y))
}

/// The rows of ids in an embedding whose panels are in `words`: `[rows]` -> `[rows, n_in]`, as `dtype`.
/// With several matrices, ids go on with the [next](Matrices::ids_of).
pub(crate) fn lookup(
    ids: Tensor<1, Int>,
    words: Tensor<1, Int>,
    matrices: &Matrices,
    dtype: DType,
) -> Tensor<2> {
    let (ids, words) = (into_contiguous(into_cube(ids)), into_cube(words));
    let y = empty(&ids, [ids.meta.shape()[0], matrices.n_in], dtype);
    lookup::launch(ids, words, y.clone(), matrices);
    from_cube(y)
}

impl Outputs {
    /// For so many rows, and tensors that begin at multiples of `alignment` numbers.
    fn new(matrices: &Matrices, range: Range<usize>, rows: usize, alignment: usize) -> Self {
        let n_out = matrices.n_out[range.clone()].to_vec();
        let mut starts = vec![0];
        for n_out in &n_out {
            let end = starts[starts.len() - 1] + rows * n_out;
            starts.push(end.next_multiple_of(alignment));
        }
        Self {
            first_panel: panels(&matrices.n_out[..range.start]),
            panels: panels(&n_out),
            n_out,
            starts,
        }
    }

    /// The length of a buffer for all.
    fn numbers(&self) -> usize {
        self.starts[self.n_out.len()]
    }

    /// The rows of a matrix, `[rows, n_out]`, in such a buffer.
    fn rows_of(&self, y: &CubeTensor, matrix: usize, rows: usize) -> CubeTensor {
        let bytes = |numbers: usize| (numbers * y.dtype.size()) as u64;
        let handle = y.handle.clone().offset_start(bytes(self.starts[matrix]));
        let handle = handle.offset_end(bytes(self.numbers() - self.starts[matrix + 1]));
        let (client, device) = (y.client.clone(), y.device.clone());
        let shape = [rows, self.n_out[matrix]].into();
        CubeTensor::new_contiguous(client, device, shape, handle, y.dtype)
    }

    /// As arguments of a kernel: the outputs of each matrix, and where its rows begin.
    fn args(&self) -> [SequenceArg<usize>; 2] {
        let n_out = self.n_out.iter().copied();
        [
            n_out.clone().collect(),
            self.starts.iter().copied().take(n_out.len()).collect(),
        ]
    }
}

/// How many numbers lie between the places where a tensor may begin in memory.
fn numbers_of_alignment(x: &CubeTensor) -> usize {
    (x.client.properties().memory.alignment as usize).div_ceil(x.dtype.size())
}

/// Whether cubes are computed by the CPU. Units that wait for each other are threads there: one
/// computes the work of a whole cube.
fn computes_on_host(client: &Client) -> bool {
    client.properties().hardware.num_cpu_cores.is_some()
}

/// Writes a sum to its place. `output` counts those of all matrices, each of whole panels.
#[cube]
fn write<F: Float>(
    y: &mut [F],
    sum: f32,
    row: usize,
    output: usize,
    n_outs: &Sequence<usize>,
    starts: &Sequence<usize>,
) {
    let mut first = 0usize;
    #[unroll]
    for i in 0..n_outs.len() {
        let n_out = n_outs[i];
        if output >= first && output < first + n_out {
            y[starts[i] + row * n_out + output - first] = F::cast_from(sum);
        }
        first += n_out.div_ceil(LANES) * LANES;
    }
}
