//! Rotation of queries and keys, with their norms where there are some, in one launch.

use burn::tensor::Tensor;
use burn_cubecl::cubecl;
use burn_cubecl::cubecl::prelude::{Tensor as Buffer, *};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;

use super::reduce::{cubes, sum_of_squares, units};
use super::{address_type, element, empty_like, from_cube, into_cube};

/// The lanes of a head.
const HEAD_LANES: usize = 32;

/// The heads of a cube, where none is normed: then its units need not wait for each other.
const HEADS_OF_CUBE: usize = 8;

/// The sizes that the kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Heads {
    n_heads: usize,
    n_kv_heads: usize,
    head_dim: usize,
    /// Half of the numbers of a head that are rotated.
    pairs: usize,
    /// How many heads a cube takes.
    of_cube: usize,
    /// How many units a head has.
    units: usize,
}

/// Queries, `[batch, seq, n_heads, head_dim]`, and keys, `[batch, seq, n_kv_heads, head_dim]`, rotated by
/// the cosines and sines of `table`, `[2, seq, pairs]` in f32.
pub(crate) fn rotate(qk: [Tensor<4>; 2], table: Tensor<3>) -> [Tensor<4>; 2] {
    turn(qk, table, None, 0.0)
}

/// As [`rotate`], after the [RMSNorm](super::norm::rms_norm) of each head, with `weights`, `[head_dim]`
/// each.
pub(crate) fn norm_and_rotate(
    qk: [Tensor<4>; 2],
    table: Tensor<3>,
    weights: [Tensor<1>; 2],
    eps: f32,
) -> [Tensor<4>; 2] {
    turn(qk, table, Some(weights), eps)
}

fn turn(
    qk: [Tensor<4>; 2],
    table: Tensor<3>,
    weights: Option<[Tensor<1>; 2]>,
    eps: f32,
) -> [Tensor<4>; 2] {
    let [q, k] = qk.map(|x| into_contiguous(into_cube(x)));
    let table = into_contiguous(into_cube(table));
    let dim = |x: &CubeTensor, i: usize| x.meta.shape()[i];
    let units = units(&q, HEAD_LANES);
    let of_cube = match weights {
        None if units > 1 => HEADS_OF_CUBE,
        _ => 1,
    };
    let heads = Heads {
        n_heads: dim(&q, 2),
        n_kv_heads: dim(&k, 2),
        head_dim: dim(&q, 3),
        pairs: dim(&table, 2),
        of_cube,
        units: units as usize,
    };
    let rows = dim(&q, 0) * dim(&q, 1);
    let (q_out, k_out) = (empty_like(&q), empty_like(&k));
    let [q_weight, k_weight] = weights.map_or([None, None], |weights| weights.map(Some));
    let weight = |weight: Option<Tensor<1>>| weight.map(|x| into_cube(x).into_tensor_arg()).into();
    turn_heads::launch(
        &q.client.clone(),
        cubes((rows * (heads.n_heads + heads.n_kv_heads)).div_ceil(of_cube)),
        CubeDim::new_1d(of_cube as u32 * units),
        address_type([&q]),
        q.clone().into_tensor_arg(),
        k.into_tensor_arg(),
        table.into_tensor_arg(),
        weight(q_weight),
        weight(k_weight),
        q_out.clone().into_tensor_arg(),
        k_out.clone().into_tensor_arg(),
        eps,
        heads,
        element(&q),
    );
    [q_out, k_out].map(from_cube)
}

/// A cube takes some heads of the rows: a row has those of the queries, and behind them those of the keys.
#[cube(launch, address_type = "dynamic")]
fn turn_heads<T: Float>(
    q: &Buffer<T>,
    k: &Buffer<T>,
    table: &Buffer<f32>,
    q_weight: ComptimeOption<&Buffer<T>>,
    k_weight: ComptimeOption<&Buffer<T>>,
    q_out: &mut Buffer<T>,
    k_out: &mut Buffer<T>,
    eps: f32,
    #[comptime] heads: Heads,
    #[define(T)] _element: ElemType,
) {
    let n_heads = comptime!(heads.n_heads);
    let n_kv_heads = comptime!(heads.n_kv_heads);
    let all = comptime!(heads.n_heads + heads.n_kv_heads);
    let place = CUBE_POS * comptime!(heads.of_cube) + UNIT_POS as usize / comptime!(heads.units);
    let (row, head) = (place / all, place % all);
    if row * n_heads * comptime!(heads.head_dim) >= q.len() {
        terminate!();
    }
    if head < n_heads {
        turn_head(q, table, q_weight, q_out, row, row * n_heads + head, eps, heads);
    } else {
        let head = row * n_kv_heads + head - n_heads;
        turn_head(k, table, k_weight, k_out, row, head, eps, heads);
    }
}

/// Entry `i` of a head is paired with entry `i + pairs`; those behind the pairs are not rotated.
#[cube]
fn turn_head<T: Float>(
    x: &Buffer<T>,
    table: &Buffer<f32>,
    weight: ComptimeOption<&Buffer<T>>,
    output: &mut Buffer<T>,
    row: usize,
    head: usize,
    eps: f32,
    #[comptime] heads: Heads,
) {
    let head_dim = comptime!(heads.head_dim);
    let pairs = comptime!(heads.pairs);
    let first = head * head_dim;
    #[comptime]
    let factor = match weight {
        ComptimeOption::Some(_) => {
            let squares =
                sum_of_squares(x, ComptimeOption::new_None(), first, head_dim, HEAD_LANES);
            let mean = squares / (head_dim as f32);
            1.0 / f32::sqrt(mean + eps)
        }
        ComptimeOption::None => 1.0f32,
    };
    let sines = table.len() / 2;
    let angles = row * pairs % sines;
    let units = comptime!(heads.units);
    let unit = UNIT_POS as usize % units;
    for i in range_stepped(unit, pairs, units) {
        let (cos, sin) = (table[angles + i], table[sines + angles + i]);
        let a = scaled(x, weight, first, i, factor);
        let b = scaled(x, weight, first, i + pairs, factor);
        output[first + i] = T::cast_from(a * cos - b * sin);
        output[first + i + pairs] = T::cast_from(b * cos + a * sin);
    }
    for i in range_stepped(2 * pairs + unit, head_dim, units) {
        output[first + i] = T::cast_from(scaled(x, weight, first, i, factor));
    }
}

/// Entry `i` of a head, in f32 and normed.
#[cube]
fn scaled<T: Float>(
    x: &Buffer<T>,
    weight: ComptimeOption<&Buffer<T>>,
    first: usize,
    i: usize,
    factor: f32,
) -> f32 {
    let number = f32::cast_from(x[first + i]);
    #[comptime]
    let scaled = match weight {
        ComptimeOption::Some(weight) => number * factor * f32::cast_from(weight[i]),
        ComptimeOption::None => number,
    };
    scaled
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, TensorData};

    use super::*;
    use crate::cube::devices;
    use crate::cube::norm::rms_norm;
    use crate::cube::tests::{close, numbers};

    const SEQ: usize = 3;
    const HEADS: [usize; 2] = [3, 2];
    const HEAD_DIM: usize = 10;

    /// Entry by entry, in f64: `x` is `[rows, heads, head_dim]`.
    fn reference(x: &[f32], heads: usize, table: &[f32], pairs: usize) -> Vec<f64> {
        let mut turned: Vec<f64> = x.iter().copied().map(f64::from).collect();
        for (place, head) in turned.chunks_mut(HEAD_DIM).enumerate() {
            let row = place / heads % SEQ;
            for i in 0..pairs {
                let [cos, sin] = [0, SEQ * pairs].map(|at| f64::from(table[at + row * pairs + i]));
                let (a, b) = (head[i], head[i + pairs]);
                (head[i], head[i + pairs]) = (a * cos - b * sin, b * cos + a * sin);
            }
        }
        turned
    }

    /// With as many pairs as there are, and with fewer; for one sequence and for two.
    #[test]
    fn each_head_is_turned_by_the_angles_of_its_position() {
        for device in devices() {
            for (batch, pairs) in [(1, 5), (1, 3), (2, 5)] {
                let table = numbers(2 * SEQ * pairs, 5);
                let tensor =
                    |values: &[f32], shape: Vec<usize>| TensorData::new(values.to_vec(), shape);
                let on_device = Tensor::<3>::from_data(
                    tensor(&table, vec![2, SEQ, pairs]),
                    (&device, DType::F32),
                );
                let of = |heads: usize| numbers(batch * SEQ * heads * HEAD_DIM, heads as u32);
                let qk = HEADS.map(|heads| {
                    let data = tensor(&of(heads), vec![batch, SEQ, heads, HEAD_DIM]);
                    Tensor::<4>::from_data(data, (&device, DType::F32))
                });
                let turned = rotate(qk.clone(), on_device.clone());
                for (found, heads) in turned.into_iter().zip(HEADS) {
                    let found = found.try_into_vec_as::<f32>().unwrap();
                    close(&found, &reference(&of(heads), heads, &table, pairs), 1e-6);
                }

                let weights = [11, 12].map(|seed| {
                    let data = tensor(&numbers(HEAD_DIM, seed), vec![HEAD_DIM]);
                    Tensor::<1>::from_data(data, (&device, DType::F32))
                });
                let turned = norm_and_rotate(qk.clone(), on_device, weights.clone(), 1e-6);
                for ((found, x), (weight, heads)) in
                    turned.into_iter().zip(qk).zip(weights.into_iter().zip(HEADS))
                {
                    let found = found.try_into_vec_as::<f32>().unwrap();
                    let normed = rms_norm(x, weight, 1e-6).try_into_vec_as::<f32>().unwrap();
                    close(&found, &reference(&normed, heads, &table, pairs), 1e-5);
                }
            }
        }
    }
}
