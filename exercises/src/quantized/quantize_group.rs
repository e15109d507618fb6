//! A group of weights as 8-bit integers that share a scale, and a row of groups back.

/// A weight in f32 takes 4 bytes, in 8 bits it takes one. Quantize a group: return its scale, and
/// an integer for each weight.
///
/// - The scale is the greatest magnitude of the group, divided by 127. So the weight with that
///   magnitude becomes 127 or -127, and no integer is beyond.
/// - Each integer is the one nearest to `weight / scale`. If two are equally near, either will do.
/// - If all weights are 0, the scale is 0 and the integers are 0.
/// - **Limits**, for when that passes: all weights are finite, and the greatest magnitude of a
///   group is from 1e-37 to 3e38, or 0. No step on the way may overflow, so look at what you
///   multiply and divide first.
///
/// ```text
/// weights    0.5   -1.27   0.02   0.634
/// scale      1.27 / 127 = 0.01
/// integers   50    -127    2      63
/// ```
pub fn quantize(weights: &[f32]) -> (f32, Vec<i8>) {
    todo!()
}

/// And back: the weights of a row that is stored in groups. Each is its integer times the scale of
/// its group.
///
/// - `integers` are all integers of the row, in order. The first `group` of them share `scales[0]`,
///   the next `group` share `scales[1]`, and so on.
/// - The last group may have fewer integers. There is a scale for each group, and `group` is at
///   least 1.
///
/// ```text
/// dequantize(&[0.5, 2.0], &[3, -8, 0, 7, 1], 3) -> [1.5, -4.0, 0.0, 14.0, 2.0]
/// ```
pub fn dequantize(scales: &[f32], integers: &[i8], group: usize) -> Vec<f32> {
    todo!()
}
