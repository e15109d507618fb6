//! A block of MXFP4.
//!
//! Why: four bits have sixteen numbers, so a table says them all. They lie closer together around 0, as weights do,
//! and the scale puts the largest of a block near 6.
//!
//! What it costs: 4 bits for each number and 8 for each block: 4.25 in all. The scale is a power of two, so that a
//! product with it is exact.
//!
//! A common wrong turn: splitting a block into its lower halves and then its upper halves. GGUF files have it so;
//! checkpoints don't.

/// What the lower three bits are.
const MAGNITUDES: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

/// The numbers of a block.
pub fn mxfp4_block(scale: u8, block: &[u8; 16]) -> [f32; 32] {
    // In f64, 2^-127 is a number like any other.
    let power = 2f64.powi(i32::from(scale) - 127);
    std::array::from_fn(|i| {
        let bits = block[i / 2] >> (i % 2 * 4) & 0xf;
        let number = f64::from(MAGNITUDES[usize::from(bits & 7)]) * power;
        (if bits & 8 == 0 { number } else { -number }) as f32
    })
}
