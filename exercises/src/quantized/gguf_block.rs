//! One block of a GGUF file.

/// Weights of a block of the type Q4_0.
pub const WEIGHTS: usize = 32;

/// Bytes of such a block.
pub const BYTES: usize = 18;

/// A GGUF file stores weights in blocks, and you can read one byte for byte: return the 32 weights
/// of a block of the type Q4_0, from its 18 bytes.
///
/// - Bytes 0 and 1 are the scale, an f16. The lower byte comes first. Use `half` to read it.
/// - Bytes 2 to 17 are the integers, two in each byte. Now the catch: the *lower* four bits of byte
///   `2 + j` are weight `j`, the *upper* four bits are weight `j + 16`. The two in a byte are not
///   neighbours.
/// - Four bits are 0 to 15, and stand for the integers -8 to 7: 8 less.
/// - A weight is its integer times the scale, in f32. A scale may be negative, or 0.
///
/// ```text
/// bytes 00 34 | 80 b8 88 ... 88    scale 0.25
///
/// byte 2, 80:  lower 0 -> -8, weight 0 is -2      upper 8 -> 0, weight 16 is 0
/// byte 3, b8:  lower 8 ->  0, weight 1 is  0      upper 11 -> 3, weight 17 is 0.75
/// ```
pub fn block(bytes: &[u8; BYTES]) -> [f32; WEIGHTS] {
    todo!()
}

/// Row `row` of a tensor of the type Q4_0 whose rows have `n_in` weights: what an embedding looks
/// up for one token. `tensor` holds all rows, one after the other.
///
/// - `n_in` is a multiple of 32. A row is its blocks, one after the other.
/// - `None` if the tensor does not have all bytes of that row. A file may be damaged, and `row` may
///   be any number: no product of it may overflow.
pub fn row(tensor: &[u8], n_in: usize, row: usize) -> Option<Vec<f32>> {
    todo!()
}

/// The f16 with these bits as an f32. It comes with the exercise, and is right.
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
