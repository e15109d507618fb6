//! Each row is filled up with zeros to whole groups, and cut again.

pub fn stored(matrix: &[Vec<f32>], group: usize) -> Vec<Vec<f32>> {
    let mut read = Vec::new();
    for row in matrix {
        let mut padded = row.clone();
        padded.resize(row.len().next_multiple_of(group), 0.0);
        let mut stored: Vec<f32> = padded.chunks_exact(group).flat_map(read_back).collect();
        stored.truncate(row.len());
        read.push(stored);
    }
    read
}

fn read_back(weights: &[f32]) -> Vec<f32> {
    let greatest = weights.iter().fold(0.0_f32, |greatest, weight| greatest.max(weight.abs()));
    if greatest == 0.0 {
        return vec![0.0; weights.len()];
    }
    let scale = greatest / 127.0;
    weights.iter().map(|weight| scale * (weight / scale).round()).collect()
}
