//! From integers and scales back to weights.

/// The weights of a row that was stored in groups: each is its integer times the scale of its
/// group.
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
