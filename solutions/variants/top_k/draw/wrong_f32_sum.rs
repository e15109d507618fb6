//! The ends of the stretches are sums in f32.

pub fn draw(probabilities: &[f32], points: &[f64]) -> Vec<usize> {
    let mut sum = 0.0_f32;
    let mut ends = Vec::with_capacity(probabilities.len()); // where each stretch ends
    for &probability in probabilities {
        sum += probability;
        ends.push(f64::from(sum));
    }
    // The last stretch is the first that reaches the end of the line.
    let last = ends.partition_point(|&end| end < f64::from(sum));
    points.iter().map(|&point| ends.partition_point(|&end| end <= point).min(last)).collect()
}
