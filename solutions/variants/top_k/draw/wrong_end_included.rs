//! Gives the end of a stretch to the token itself: a stretch of length 0 can be hit.

pub fn draw(probabilities: &[f32], point: f64) -> usize {
    let mut end = 0.0;
    for (id, &probability) in probabilities.iter().enumerate() {
        end += f64::from(probability);
        if point <= end {
            return id;
        }
    }
    probabilities.iter().rposition(|&probability| probability > 0.0).unwrap()
}
