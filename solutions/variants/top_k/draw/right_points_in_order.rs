//! One walk for all points, which are sorted before it.

pub fn draw(probabilities: &[f32], points: &[f64]) -> Vec<usize> {
    let last = probabilities.iter().rposition(|&probability| probability > 0.0).unwrap();
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| points[a].total_cmp(&points[b]));
    let mut tokens = vec![0; points.len()];
    let (mut id, mut end) = (0, f64::from(probabilities[0]));
    for i in order {
        while end <= points[i] && id < last {
            id += 1;
            end += f64::from(probabilities[id]);
        }
        tokens[i] = id;
    }
    tokens
}
