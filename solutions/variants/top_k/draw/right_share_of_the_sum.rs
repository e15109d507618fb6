//! The point as a share of the sum, which is used up token by token.

pub fn draw(probabilities: &[f32], point: f64) -> usize {
    let sum: f64 = probabilities.iter().copied().map(f64::from).sum();
    let mut left = point * sum;
    let mut last = 0;
    for (id, &probability) in probabilities.iter().enumerate() {
        if probability > 0.0 {
            last = id;
            left -= f64::from(probability);
        }
        if left < 0.0 {
            return id;
        }
    }
    last
}
