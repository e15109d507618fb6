//! All running sums first, and then a search by halving.

pub fn draw(probabilities: &[f32], point: f64) -> usize {
    let mut sum = 0.0;
    let ends: Vec<f64> = probabilities
        .iter()
        .map(|&probability| {
            sum += f64::from(probability);
            sum
        })
        .collect();
    let found = ends.partition_point(|&end| end <= point);
    let last = probabilities.iter().rposition(|&probability| probability > 0.0).unwrap();
    found.min(last)
}
