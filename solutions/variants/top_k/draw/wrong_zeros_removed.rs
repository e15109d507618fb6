//! Tokens of probability 0 are taken out of the list, and the others move up.

pub fn draw(probabilities: &[f32], points: &[f64]) -> Vec<usize> {
    let probabilities: Vec<f32> = probabilities.iter().copied().filter(|p| *p > 0.0).collect();
    let probabilities = &probabilities;
    let mut sum = 0.0;
    let mut ends = Vec::with_capacity(probabilities.len()); // where each stretch ends
    for &probability in probabilities {
        sum += f64::from(probability);
        ends.push(sum);
    }
    // The last stretch is the first that reaches the end of the line.
    let last = ends.partition_point(|&end| end < sum);
    points.iter().map(|&point| ends.partition_point(|&end| end <= point).min(last)).collect()
}
