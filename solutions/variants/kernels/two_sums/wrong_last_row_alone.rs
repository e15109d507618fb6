//! Rows go in pairs, and a row that is left over by itself is summed in the old way.

pub fn linear(weights: &[Vec<f32>], x: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let in_order = |weights: &[f32], x: &[f32]| {
        weights.iter().zip(x).fold(0.0_f32, |sum, (weight, x)| weight.mul_add(*x, sum))
    };
    let mut y = Vec::new();
    for pair in x.chunks(2) {
        for row in pair {
            let sum = |weights: &Vec<f32>| match pair.len() {
                1 => dot(weights, row),
                _ => in_order(weights, row),
            };
            y.push(weights.iter().map(sum).collect());
        }
    }
    y
}

fn dot(weights: &[f32], x: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 4];
    for (weights, x) in weights.chunks(4).zip(x.chunks(4)) {
        for (sum, (weight, x)) in sums.iter_mut().zip(weights.iter().zip(x)) {
            *sum = weight.mul_add(*x, *sum);
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}
