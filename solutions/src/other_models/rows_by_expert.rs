//! Rows by expert: gather, compute, scatter.
//!
//! Why: an expert's weights are far larger than a row. Read once for all rows that take it, they
//! cost as much as for one. Row by row, an expert that four rows take would be read four times.
//!
//! What it costs: a copy of each row for each expert that it takes, which is little next to the
//! weights.
//!
//! A common wrong turn: adding the experts' results in the order in which they finish. Sums of
//! floats depend on their order, so a row would have other bits in another batch.

/// Computes one expert, by its number, for some rows: `[rows][d_model]` -> `[rows][d_model]`.
pub type Expert<'a> = dyn FnMut(usize, &[Vec<f32>]) -> Vec<Vec<f32>> + 'a;

/// What a layer of experts makes of the rows `x`, `[rows][d_model]`: for each, the weighted sum of what its
/// experts compute.
pub fn rows_by_expert(
    x: &[Vec<f32>],
    routing: &[Vec<f32>],
    expert: &mut Expert<'_>,
) -> Vec<Vec<f32>> {
    let mut y: Vec<Vec<f32>> = x.iter().map(|row| vec![0.0; row.len()]).collect();
    let experts = routing.first().map_or(0, Vec::len);
    #[allow(clippy::needless_range_loop, reason = "the number of a column")]
    for number in 0..experts {
        let takes = |row: &usize| routing[*row][number] != 0.0;
        let rows: Vec<usize> = (0..x.len()).filter(takes).collect();
        if rows.is_empty() {
            continue;
        }
        let gathered: Vec<Vec<f32>> = rows.iter().map(|&row| x[row].clone()).collect();
        for (&row, computed) in rows.iter().zip(expert(number, &gathered)) {
            let weight = routing[row][number];
            for (y, computed) in y[row].iter_mut().zip(computed) {
                *y += weight * computed;
            }
        }
    }
    y
}
