//! A row is one group.

pub fn stored(matrix: &[Vec<f32>], group: usize) -> Vec<Vec<f32>> {
    matrix.iter().map(|row| read_back(row)).collect()
}

fn read_back(weights: &[f32]) -> Vec<f32> {
    let greatest = weights.iter().fold(0.0_f32, |greatest, weight| greatest.max(weight.abs()));
    if greatest == 0.0 {
        return vec![0.0; weights.len()];
    }
    let scale = greatest / 127.0;
    weights.iter().map(|weight| scale * (weight / scale).round()).collect()
}
