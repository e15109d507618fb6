//! Each point is a share of the sum, as in the chapter's code.

pub fn draw(probabilities: &[f32], points: &[f64]) -> Vec<usize> {
    let add = |sum: &mut f64, &probability: &f32| {
        *sum += f64::from(probability);
        Some(*sum)
    };
    let ends: Vec<f64> = probabilities.iter().scan(0.0, add).collect();
    let sum = ends[ends.len() - 1];
    let last = probabilities.iter().rposition(|&probability| probability > 0.0).unwrap();
    let token = |point: f64| ends.partition_point(|&end| end <= point * sum);
    points.iter().map(|&point| token(point).min(last)).collect()
}
