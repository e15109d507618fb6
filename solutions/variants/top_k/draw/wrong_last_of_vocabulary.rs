//! Falls back to the last token of the vocabulary, whatever its probability.

pub fn draw(probabilities: &[f32], point: f64) -> usize {
    let mut end = 0.0;
    for (id, &probability) in probabilities.iter().enumerate() {
        end += f64::from(probability);
        if point < end {
            return id;
        }
    }
    probabilities.len() - 1
}
