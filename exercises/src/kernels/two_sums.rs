//! A bug hunt: two sums that differ.

/// A linear layer. `weights` is `[n_out][n_in]`, `x` is `[rows][n_in]`; returns `[rows][n_out]`.
///
/// Each output is a sum over `k`, which begins at 0 and takes the products from `k = 0` upwards,
/// each by `weight.mul_add(x, sum)`. So a row should be bit-identical in any company.
///
/// **What was observed.** Most texts are the same alone and in a batch. A few diverge after some
/// hundred tokens, always at a place where two tokens were nearly equally likely. The logits differ
/// in the last digits, at every step of every text. A prompt that is read whole and one that is
/// read token by token leave different numbers in the KV cache.
///
/// Find the reason, and fix it. What should be:
///
/// ```text
/// weights  2^24 1 1 1 1 -2^24       x  1 1 1 1 1 1       -> 0, alone and among others
/// ```
pub fn linear(weights: &[Vec<f32>], x: &[Vec<f32>]) -> Vec<Vec<f32>> {
    match x {
        // A decode step of one text. One sum would wait for itself at each addition.
        [row] => vec![weights.iter().map(|weights| dot(weights, row)).collect()],
        // Each row of weights is used for all rows of x while it is in the cache.
        rows => {
            let mut y = vec![vec![0.0; weights.len()]; rows.len()];
            for (output, weights) in weights.iter().enumerate() {
                for (row, x) in rows.iter().enumerate() {
                    let mut sum = 0.0;
                    for (weight, x) in weights.iter().zip(x) {
                        sum = weight.mul_add(*x, sum);
                    }
                    y[row][output] = sum;
                }
            }
            y
        }
    }
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
