//! Packing weights for tiles.

/// How many outputs a tile of weights has. In AMX it is 16.
pub const OUTPUTS: usize = 4;

/// How many inputs a tile of weights has. In AMX it is 32.
pub const DEPTH: usize = 8;

/// The matrix unit reads weights as words of 32 bits, and in each of them two inputs of the same
/// output. Pack a part of a matrix as one such tile.
///
/// - `weights` is `[n_out, n_in]`: a row for each output, with the bits of its weights in bf16. There
///   are at most [`OUTPUTS`] rows, all of the same length, which is at most [`DEPTH`].
/// - Word `[i][j]` of the tile is of output `j`. Its lower half is input `2 * i`, and its upper half
///   input `2 * i + 1`.
/// - What the matrix doesn't have is 0: then it adds nothing.
///
/// ```text
/// weights  output 0: a b c      tile  [b a] [y x] [0 0] [0 0]     inputs 0 and 1
///          output 1: x y z            [0 c] [0 z] [0 0] [0 0]     inputs 2 and 3
///                                     [0 0] [0 0] [0 0] [0 0]     inputs 4 and 5
///                                     [0 0] [0 0] [0 0] [0 0]     inputs 6 and 7
///
/// a word is written as it is in hexadecimal: its upper half first
/// ```
pub fn pack_tile(weights: &[Vec<u16>]) -> [[u32; OUTPUTS]; DEPTH / 2] {
    todo!()
}
