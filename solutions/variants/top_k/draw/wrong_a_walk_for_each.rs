//! The chapter's walk, once for each point: 100,000 of them take minutes.

fn walk(probabilities: &[f32], point: f64) -> usize {
    let mut drawn = 0;
    let mut end = 0.0;
    for (id, &probability) in probabilities.iter().enumerate() {
        if probability == 0.0 {
            continue;
        }
        drawn = id;
        end += f64::from(probability);
        if point < end {
            break;
        }
    }
    drawn
}

pub fn draw(probabilities: &[f32], points: &[f64]) -> Vec<usize> {
    points.iter().map(|&point| walk(probabilities, point)).collect()
}
