//! Error against group size.

/// Small groups fit their weights better, and store more scales. What does the group size do to the
/// error? Return the mean squared error of a row that is stored as 4-bit integers in groups of
/// `group` weights.
///
/// - The scale of a group is its greatest magnitude, divided by 7. Each weight is stored as the
///   integer nearest to `weight / scale`, and read as that integer times the scale.
/// - The last group may be shorter.
/// - The error of a weight is its difference from what is read. The result is the mean of the
///   squared errors of all weights of the row.
/// - A group of zeros has no error. `row` has at least one weight, and `group` is at least 1.
///
/// ```text
/// row 7 1.4 0.7 0.2
///
/// in a group of 4    scale 1           7 1 1 0             errors 0 0.4 -0.3 0.2    mean square 0.0725
/// in groups of 2     scales 1, 0.1     7 1  0.7 0.2        errors 0 0.4 0 0         mean square 0.04
/// ```
pub fn mean_squared_error(row: &[f32], group: usize) -> f32 {
    todo!()
}

/// And what does it cost? Return the bits that such a row takes for each weight: 4, plus its share
/// of the scales, 16 bits for each group.
///
/// ```text
/// bits_per_weight(4, 4) = (4 * 4 + 16) / 4 = 8       bits_per_weight(4, 2) = (4 * 4 + 2 * 16) / 4 = 12
/// ```
pub fn bits_per_weight(weights: usize, group: usize) -> f32 {
    todo!()
}
