//! In nats and f64, with pairs of distance and id.

pub fn typical(probabilities: &[f32], mass: f32) -> Vec<f32> {
    let possible: Vec<(usize, f64)> = probabilities
        .iter()
        .map(|&p| f64::from(p))
        .enumerate()
        .filter(|(_, p)| *p > 0.0)
        .collect();
    let entropy: f64 = possible.iter().map(|(_, p)| -p * p.ln()).sum();
    let mut pairs: Vec<(f64, usize)> =
        possible.iter().map(|&(id, p)| ((entropy + p.ln()).abs(), id)).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));

    let mut left = vec![0.0; probabilities.len()];
    let mut sum = 0.0;
    let mut pairs = pairs.into_iter();
    while sum < mass {
        let Some((_, id)) = pairs.next() else { break };
        left[id] = probabilities[id];
        sum += probabilities[id];
    }
    for probability in &mut left {
        *probability /= sum;
    }
    left
}
