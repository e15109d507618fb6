//! A point after the end of the line belongs to the last token, also if that has no stretch.

pub fn draw(probabilities: &[f32], points: &[f64]) -> Vec<usize> {
    let mut sum = 0.0;
    let mut ends = Vec::with_capacity(probabilities.len()); // where each stretch ends
    for &probability in probabilities {
        sum += f64::from(probability);
        ends.push(sum);
    }
    // The last stretch is the first that reaches the end of the line.
    let last = ends.partition_point(|&end| end < sum);
    points
        .iter()
        .map(|&point| ends.partition_point(|&end| end <= point).min(ends.len() - 1))
        .collect()
}
