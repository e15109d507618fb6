//! The best scale for given integers.

/// The integers of a group are chosen. Which scale fits them best? Return the `s` for which
/// `s * integers` is nearest to `weights`: the sum of the squared differences,
/// `(weight - s * integer)` squared, is the least.
///
/// - If all integers are 0, every scale is as good, and the result is 0.
/// - The scale may be negative. There are as many weights as integers.
///
/// ```text
/// weights 3 1    integers 2 1
///
/// s = 1.5    errors 0 and -0.5      squares 0.25
/// s = 1.4    errors 0.2 and -0.4    squares 0.20, the least
/// s = 1.3    errors 0.4 and -0.3    squares 0.25
/// ```
pub fn best_scale(weights: &[f32], integers: &[i8]) -> f32 {
    todo!()
}
