//! Sorts the tokens first and returns a rank, not an id.

pub fn draw(probabilities: &[f32], point: f64) -> usize {
    let mut sorted = probabilities.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let mut end = 0.0;
    for (rank, &probability) in sorted.iter().enumerate() {
        end += f64::from(probability);
        if point < end {
            return rank;
        }
    }
    sorted.iter().rposition(|&probability| probability > 0.0).unwrap()
}
