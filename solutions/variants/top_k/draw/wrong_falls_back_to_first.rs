//! A point after the end of the line belongs to the first token.

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
        .map(|&point| {
            let i = ends.partition_point(|&end| end <= point);
            if i < ends.len() { i } else { 0 }
        })
        .collect()
}
