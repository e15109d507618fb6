//! The rows of a batch, grouped by expert.

/// Computes one expert, by its number, for some rows: `[rows][d_model]` -> `[rows][d_model]`.
pub type Expert<'a> = dyn FnMut(usize, &[Vec<f32>]) -> Vec<Vec<f32>> + 'a;

/// Compute a batch row by row, and you read an expert's weights again for each of its rows. So
/// group the rows by expert. Return, for each row of `x`, `[rows][d_model]`, the weighted sum of
/// what its experts compute.
///
/// - `routing` is `[rows][experts]`: the weight of each expert for each row, and 0 for experts that
///   the row doesn't take. No weight is negative.
/// - An expert that some row takes is computed once, with all rows that take it, in their order:
///   its weights are read once, for all of them. One that no row takes is not computed.
/// - A row begins with zeros, and adds its experts in the order of their numbers:
///   `y += weight * computed`. So a row is bit-identical alone and in any batch.
///
/// ```text
/// routing of three rows     [0.5, 0.5, 0], [0, 0.25, 0.75], [1, 0, 0]
///
/// expert 0   rows 0 and 2       expert 1   rows 0 and 1       expert 2   row 1
/// ```
pub fn rows_by_expert(
    x: &[Vec<f32>],
    routing: &[Vec<f32>],
    expert: &mut Expert<'_>,
) -> Vec<Vec<f32>> {
    todo!()
}
