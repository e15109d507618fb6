//! Packing weights for tiles.
//!
//! Why: one row of a tile register has 64 bytes, and the unit reads a word of each output from it. A
//! word has room for two inputs, so a product of two pairs is its smallest step.
//!
//! What it costs: the weights are packed once, when they are loaded. Had they stayed as they are in
//! the file, each product would have to gather them.
//!
//! A common wrong turn: to lay the matrix out transposed, an input per row. That is the right
//! layout for f32, where a word has room for one input.

/// How many outputs a tile of weights has. In AMX it is 16.
pub const OUTPUTS: usize = 4;

/// How many inputs a tile of weights has. In AMX it is 32.
pub const DEPTH: usize = 8;

/// A part of a matrix, `[n_out, n_in]`, as a tile of words, `[n_in / 2, n_out]`.
pub fn pack_tile(weights: &[Vec<u16>]) -> [[u32; OUTPUTS]; DEPTH / 2] {
    let mut tile = [[0; OUTPUTS]; DEPTH / 2];
    for (j, weights) in weights.iter().enumerate() {
        for (i, pair) in weights.chunks(2).enumerate() {
            let even = u32::from(pair[0]);
            let odd = pair.get(1).map_or(0, |odd| u32::from(*odd));
            tile[i][j] = odd << 16 | even;
        }
    }
    tile
}
