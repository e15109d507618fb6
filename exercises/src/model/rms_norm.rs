//! RMSNorm: a vector divided by its root mean square.

/// After a few blocks some vectors have become large and others small, and the next block wants
/// them on one scale. So divide `x` by its root mean square, then multiply each number by its
/// weight.
///
/// `x` and `weight` are `[d_model]`, and so is the result: `y_i = weight_i * x_i / sqrt(m + eps)`,
/// where `m` is the mean of the squares of all numbers in `x`. Thanks to `eps`, a vector of zeros
/// is not divided by zero.
///
/// You may compute everything in `f32`, in any order: vectors have at most 10,000 numbers, and no
/// square, sum, product or quotient is too large or too small for an `f32`. Each result may be off
/// by a ten-thousandth of its value.
///
/// ```text
/// rms_norm(&[3.0, 4.0], &[1.0, 1.0], 0.0)    -> [0.85, 1.13]     (m is 12.5)
/// rms_norm(&[3.0, 4.0], &[1.0, 10.0], 0.0)   -> [0.85, 11.31]
/// ```
pub fn rms_norm(x: &[f32], weight: &[f32], eps: f32) -> Vec<f32> {
    todo!()
}
