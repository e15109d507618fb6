//! A bug hunt: a row that depends on the rows before it.

/// What you read back of a matrix, `[rows][n_in]`, that is stored in 8-bit integers and groups of
/// `group` weights.
///
/// Each row is stored by itself: its first `group` weights are a group, then the next, and its last
/// group may be shorter. The scale of a group is its greatest magnitude divided by 127, and each
/// weight is read as the nearest integer times the scale. `group` is at least 1.
///
/// **What was observed.** With models whose `n_in` is a multiple of the group everything is fine.
/// Another model, with groups of 32 and an `n_in` of 48, is worse in int8 than it should be. One of
/// its rows has large weights. It is stored well, but the row after it is not. And a row that is
/// stored alone is stored better than the same row in its matrix.
///
/// Find the reason, and fix it. What should be, with groups of 2:
///
/// ```text
/// rows   127 64 100 | 0.5 0.3 0.1     groups  127 64, 100 | 0.5 0.3, 0.1
/// ```
pub fn stored(matrix: &[Vec<f32>], group: usize) -> Vec<Vec<f32>> {
    let Some(n_in) = matrix.first().map(Vec::len).filter(|n_in| *n_in > 0) else {
        return matrix.to_vec();
    };
    let weights = matrix.concat();
    let read: Vec<f32> = weights.chunks(group).flat_map(read_back).collect();
    read.chunks(n_in).map(<[f32]>::to_vec).collect()
}

/// A group, as it is read back.
fn read_back(weights: &[f32]) -> Vec<f32> {
    let greatest = weights.iter().fold(0.0_f32, |greatest, weight| greatest.max(weight.abs()));
    if greatest == 0.0 {
        return vec![0.0; weights.len()];
    }
    let scale = greatest / 127.0;
    weights.iter().map(|weight| scale * (weight / scale).round()).collect()
}
