//! What does not fill a group becomes 0.

pub fn stored(matrix: &[Vec<f32>], group: usize) -> Vec<Vec<f32>> {
    let row = |row: &Vec<f32>| {
        let mut read: Vec<f32> = row.chunks_exact(group).flat_map(read_back).collect();
        read.resize(row.len(), 0.0);
        read
    };
    matrix.iter().map(row).collect()
}

fn read_back(weights: &[f32]) -> Vec<f32> {
    let greatest = weights.iter().fold(0.0_f32, |greatest, weight| greatest.max(weight.abs()));
    if greatest == 0.0 {
        return vec![0.0; weights.len()];
    }
    let scale = greatest / 127.0;
    weights.iter().map(|weight| scale * (weight / scale).round()).collect()
}
