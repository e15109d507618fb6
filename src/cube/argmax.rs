//! The most likely token of each row of logits, so that only ids leave the device.

use burn::tensor::{DType, Int, Tensor};
use burn_cubecl::cubecl;
use burn_cubecl::cubecl::prelude::{Tensor as Buffer, *};
use burn_cubecl::kernel::into_contiguous;

use super::reduce::{LANES, cubes, units};
use super::{address_type, element, empty, from_cube, into_cube};

/// Stands in place of an id where a logit is NaN, where one is +inf, and where none is finite.
pub(crate) const NAN: i32 = -1;
pub(crate) const INFINITE: i32 = -2;
pub(crate) const NONE: i32 = -3;

/// The id of the greatest of each row of logits, `[rows, vocab]` -> `[rows]`; the lowest of equal ones.
/// A row from which no token can be sampled has [`NAN`], [`INFINITE`] or [`NONE`].
pub(crate) fn argmax(logits: Tensor<2>) -> Tensor<1, Int> {
    let logits = into_contiguous(into_cube(logits));
    let [rows, vocab] = logits.meta.shape().dims::<2>();
    let ids = empty(&logits, [rows], DType::I32);
    argmax_rows::launch(
        &logits.client.clone(),
        cubes(rows),
        CubeDim::new_1d(units(&logits, LANES)),
        address_type([&logits]),
        logits.clone().into_tensor_arg(),
        ids.clone().into_tensor_arg(),
        vocab,
        element(&logits),
    );
    from_cube(ids)
}

/// A cube takes a row. Each lane has the greatest of its own logits; of two lanes, the greater stays, or of
/// equals the one with the lower id. Bits say what is not finite: compilers of shaders may take it that
/// every number is.
// Long: one kernel, whose parts share the memory of a cube.
#[cube(launch, address_type = "dynamic")]
fn argmax_rows<T: Float>(
    logits: &Buffer<T>,
    ids: &mut Buffer<i32>,
    #[comptime] vocab: usize,
    #[define(T)] _element: ElemType,
) {
    let first = CUBE_POS * vocab;
    if first >= logits.len() {
        terminate!();
    }
    let mut best = Shared::<[f32]>::new_slice(LANES);
    let mut best_id = Shared::<[u32]>::new_slice(LANES);
    let mut problems = Shared::<[u32]>::new_slice(LANES);
    let no_id = comptime!(vocab as u32);
    let (unit, units) = (UNIT_POS as usize, CUBE_DIM as usize);
    for lane in range_stepped(unit, LANES, units) {
        let mut greatest = 0.0f32;
        let mut id = no_id.runtime();
        let mut problem = 0u32;
        for i in range_stepped(lane, vocab, LANES) {
            let logit = f32::cast_from(logits[first + i]);
            let bits = u32::reinterpret(logit);
            let magnitude = bits & 0x7fff_ffffu32;
            if magnitude > 0x7f80_0000u32 {
                problem |= 2u32;
            } else if bits == 0x7f80_0000u32 {
                problem |= 1u32;
            } else if magnitude < 0x7f80_0000u32 && (id == no_id || logit > greatest) {
                greatest = logit;
                id = i as u32;
            }
        }
        best[lane] = greatest;
        best_id[lane] = id;
        problems[lane] = problem;
    }
    sync_cube();
    let mut half = (LANES / 2).runtime();
    while half > 0 {
        for lane in range_stepped(unit, half, units) {
            let other = lane + half;
            problems[lane] |= problems[other];
            let is_tie = best[other] == best[lane] && best_id[other] < best_id[lane];
            let is_better = best[other] > best[lane] || is_tie || best_id[lane] == no_id;
            if best_id[other] != no_id && is_better {
                best[lane] = best[other];
                best_id[lane] = best_id[other];
            }
        }
        sync_cube();
        half /= 2;
    }
    if unit == 0 {
        let mut id = i32::cast_from(best_id[0]);
        if problems[0] >= 2u32 {
            id = NAN;
        } else if problems[0] == 1u32 {
            id = INFINITE;
        } else if best_id[0] == no_id {
            id = NONE;
        }
        ids[CUBE_POS] = id;
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::TensorData;

    use super::*;
    use crate::cube::devices;
    use crate::cube::tests::numbers;

    /// The greatest, as `sampling::greedy` has it.
    fn reference(row: &[f32]) -> i32 {
        let better = |best: usize, id: usize| if row[id] > row[best] { id } else { best };
        (0..row.len()).reduce(better).unwrap() as i32
    }

    fn rows(width: usize) -> Vec<(Vec<f32>, i32)> {
        let plain = numbers(width, 4);
        let expected = reference(&plain);
        let with = |id: usize, logit: f32| {
            let mut row = plain.clone();
            row[id] = logit;
            row
        };
        let (first, last) = (0, width - 1);
        let mut rows = vec![
            (plain.clone(), expected),
            (with(last, 7.0), last as i32),
            (with(first, 7.0), first as i32),
            (vec![0.25; width], 0),
            (vec![-3.0; width], 0),
            (with(width / 2, f32::NAN), NAN),
            (with(last, f32::INFINITY), INFINITE),
            (vec![f32::NEG_INFINITY; width], NONE),
        ];
        let mut masked = vec![f32::NEG_INFINITY; width];
        masked[width / 2] = -1e30;
        rows.push((masked, (width / 2) as i32));
        let mut both = vec![f32::INFINITY; width];
        both[first] = f32::NAN;
        rows.push((both, NAN));
        rows
    }

    #[test]
    fn the_first_of_the_greatest_logits_is_found_and_what_cannot_be_sampled_from() {
        for device in devices() {
            for width in [1, 2, 31, 255, 256, 257, 1000] {
                let (logits, expected): (Vec<_>, Vec<_>) = rows(width).into_iter().unzip();
                let data = TensorData::new(logits.concat(), [logits.len(), width]);
                let found = argmax(Tensor::from_data(data, (&device, DType::F32)));
                let found = found.try_into_vec_as::<i32>().unwrap();
                assert_eq!(found, expected, "{width} logits on {device:?}");
            }
        }
    }
}
