//! One order for all rows, but not that of `k`.

pub fn linear(weights: &[Vec<f32>], x: &[Vec<f32>]) -> Vec<Vec<f32>> {
    x.iter().map(|x| weights.iter().map(|weights| dot(weights, x)).collect()).collect()
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
