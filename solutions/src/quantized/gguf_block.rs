//! One block of a GGUF file.
//!
//! Why: the two integers of a byte are 16 weights apart, so from 16 bytes in a register you get
//! weights 0 to 15 with one mask, and 16 to 31 with one shift. With neighbours in a byte, the two
//! halves would have to be interleaved. The scale stands next to its integers, so a block is read
//! from one place.
//!
//! What it costs: 18 bytes for 32 weights, 4.5 bits each. And 18 is no multiple of 4, so the blocks
//! are not aligned. A program that computes with them often packs them into another layout first.
//!
//! A common wrong turn: neighbours in a byte, as in `pack_nibbles`. The weights are all there, in
//! another order, and the model writes fluent nonsense.

/// Weights of a block of the type Q4_0.
pub const WEIGHTS: usize = 32;

/// Bytes of such a block.
pub const BYTES: usize = 18;

/// The 32 weights of a block of the type Q4_0, from its 18 bytes.
pub fn block(bytes: &[u8; BYTES]) -> [f32; WEIGHTS] {
    let scale = half(u16::from_le_bytes([bytes[0], bytes[1]]));
    let mut weights = [0.0; WEIGHTS];
    for (j, byte) in bytes[2..].iter().enumerate() {
        weights[j] = scale * (f32::from(byte & 15) - 8.0);
        weights[j + WEIGHTS / 2] = scale * (f32::from(byte >> 4) - 8.0);
    }
    weights
}

/// Row `row` of a tensor of the type Q4_0 whose rows have `n_in` weights.
pub fn row(tensor: &[u8], n_in: usize, row: usize) -> Option<Vec<f32>> {
    let length = n_in / WEIGHTS * BYTES;
    let start = row.checked_mul(length)?;
    let bytes = tensor.get(start..start.checked_add(length)?)?;
    let (blocks, _) = bytes.as_chunks::<BYTES>();
    Some(blocks.iter().flat_map(block).collect())
}

/// The f16 with these bits as an f32.
pub fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let mantissa = f32::from(bits & 0x3ff);
    match exponent {
        0 => sign * mantissa * 2_f32.powi(-24),
        31 if mantissa == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        _ => sign * (1024.0 + mantissa) * 2_f32.powi(exponent - 25),
    }
}
