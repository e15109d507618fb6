//! A group of weights as 8-bit integers that share a scale.

/// Quantizes a group: its scale, and an integer for each weight.
///
/// - The scale is the greatest magnitude of the group, divided by 127. So the weight with that
///   magnitude becomes 127 or -127, and no other integer is beyond.
/// - Each integer is the one nearest to `weight / scale`. Where two are equally near, either will
///   do.
/// - Where all weights are 0, the scale is 0 and the integers are 0.
/// - All weights are finite.
///
/// ```text
/// weights    0.5   -1.27   0.02   0.634
/// scale      1.27 / 127 = 0.01
/// integers   50    -127    2      63
/// ```
pub fn quantize(weights: &[f32]) -> (f32, Vec<i8>) {
    todo!()
}
