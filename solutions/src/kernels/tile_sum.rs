//! The order of a tile.
//!
//! Why: the hardware has chosen an order of sums. If everything else adopts it, a processor with a
//! matrix unit and one without give the same bits.
//!
//! What it costs: two sums instead of one, and an addition for each 32 inputs. A kernel with vectors
//! keeps twice as many registers with sums.
//!
//! A common wrong turn: to let the two sums go on over all inputs and to add them at the very end.
//! That is fewer additions, and it is another order.

/// How many inputs a matrix unit takes at once.
pub const DEPTH: usize = 32;

/// One output, in the order of a matrix unit.
pub fn tile_sum(weights: &[f32], x: &[f32], output: f32) -> f32 {
    let mut output = output;
    for (weights, x) in weights.chunks(DEPTH).zip(x.chunks(DEPTH)) {
        let mut sums = [0.0; 2];
        for (k, (weight, x)) in weights.iter().zip(x).enumerate() {
            sums[k % 2] = weight.mul_add(*x, sums[k % 2]);
        }
        output += sums[0] + sums[1];
    }
    output
}
