//! A probability below 1e-9 counts as 0.

pub fn draw(probabilities: &[f32], points: &[f64]) -> Vec<usize> {
    let mut sum = 0.0;
    let mut ends = Vec::with_capacity(probabilities.len()); // where each stretch ends
    for &probability in probabilities {
        sum += if probability < 1e-9 {
            0.0
        } else {
            f64::from(probability)
        };
        ends.push(sum);
    }
    // The last stretch is the first that reaches the end of the line.
    let last = ends.partition_point(|&end| end < sum);
    points.iter().map(|&point| ends.partition_point(|&end| end <= point).min(last)).collect()
}
