//! The instruction that multiplies small matrices of 16-bit numbers: 16 rows and 8 outputs, at 16 inputs.
//!
//! A lane takes what it can load in one piece: 4 outputs at each of 8 inputs, which lie in memory as in a panel, and
//! 8 inputs of two rows, 8 rows apart. Half of these inputs make an instruction. Its numbers are then those of other
//! inputs and outputs than its description has, but of the same ones on both sides.

use burn::backend::cubecl::dtype_to_storage_type;
use burn::tensor::DType;
use burn_cubecl::cubecl;
use burn_cubecl::cubecl::client::Client;
use burn_cubecl::cubecl::cmma::MmaDefinition;
use burn_cubecl::cubecl::ir::features::MmaConfig;
use burn_cubecl::cubecl::prelude::*;

/// The rows of an instruction.
pub(super) const ROWS: usize = 16;
/// The lanes of a plane.
pub(super) const PLANE: usize = 32;
/// What a lane has of the sums of 16 rows and 32 outputs, in pairs: `[4 outputs][2 rows]`.
pub(super) const PAIRS: usize = 8;

/// Whether the device has the instruction for numbers of this type.
pub(super) fn has_instruction(client: &Client, dtype: DType) -> bool {
    let is_half = matches!(dtype, DType::F16 | DType::BF16);
    is_half && {
        let [a_type, cd_type] = [dtype, DType::F32].map(dtype_to_storage_type);
        let instruction = MmaConfig { a_type, b_type: a_type, cd_type, m: 16, n: 8, k: 16 };
        client.features().matmul.mma.contains(&instruction)
    }
}

/// The place of a pair's number among 32 outputs, for lanes of this quarter of four.
#[cube]
pub(super) fn output_of(quarter: usize, output: usize, number: usize) -> usize {
    quarter * 8 + number * 4 + output
}

/// A register of two numbers.
#[cube]
pub(super) fn pair<F: Float>(first: F, second: F) -> Vector<F, Const<2>> {
    let mut pair = Vector::<F, Const<2>>::empty();
    pair.insert(0usize, first);
    pair.insert(1usize, second);
    pair
}

/// Half of the inputs of two rows, as the instruction takes them.
#[cube]
pub(super) fn inputs_of<F: Float>(
    one: Vector<F, Const<8>>,
    other: Vector<F, Const<8>>,
    #[comptime] half: usize,
) -> Array<Vector<F, Const<2>>> {
    let mut a = Array::<Vector<F, Const<2>>>::new(4usize);
    #[unroll]
    for i in 0..2usize {
        let first = comptime!(4 * half + 2 * i);
        let second = comptime!(first + 1);
        a[comptime!(2 * i)] = pair(one.extract(first), one.extract(second));
        a[comptime!(2 * i + 1)] = pair(other.extract(first), other.extract(second));
    }
    a
}

/// Adds the products of 16 rows, `a`, with a half of the inputs that a lane has loaded to
/// [`PAIRS`] pairs of sums, of which `first` is the first.
#[cube]
pub(super) fn multiply<F: Float>(
    a: &Array<Vector<F, Const<2>>>,
    loaded: &Array<Vector<F, Const<4>>>,
    #[comptime] half: usize,
    #[comptime] first: usize,
    sums: &mut Array<Vector<f32, Const<2>>>,
) {
    let instruction = MmaDefinition::<F, F, f32>::new(16usize, 8usize, 16usize);
    #[unroll]
    for output in 0..4usize {
        let mut b = Array::<Vector<F, Const<2>>>::new(2usize);
        #[unroll]
        for i in 0..2usize {
            let input = comptime!(4 * half + 2 * i);
            let (one, other) = (loaded[input], loaded[comptime!(input + 1)]);
            b[i] = pair(one.extract(output), other.extract(output));
        }
        let at = comptime!(first + 2 * output);
        let mut c = Array::<Vector<f32, Const<2>>>::new(2usize);
        c[0] = sums[at];
        c[1] = sums[comptime!(at + 1)];
        let d = instruction.execute(a, &b, &c);
        sums[at] = d[0];
        sums[comptime!(at + 1)] = d[1];
    }
}
