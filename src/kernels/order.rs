//! Summation along `k`, to compare with the order of the microkernel.

// ANCHOR: sum_along_k
/// The dot product of `weights` and `x`, both `[k]`, with SIMD lanes along `k`, as in most
/// libraries: each of `lanes` partial sums takes every `lanes`-th product, and in the end they are
/// added pairwise.
///
/// The number of lanes depends on the processor. One lane gives the order of the microkernel.
/// `lanes` is a power of two.
pub fn sum_along_k(weights: &[f32], x: &[f32], lanes: usize) -> f32 {
    let mut sums = vec![0.0_f32; lanes];
    for (k, (weight, x)) in weights.iter().zip(x).enumerate() {
        sums[k % lanes] = weight.mul_add(*x, sums[k % lanes]);
    }
    let mut left = lanes / 2;
    while left > 0 {
        for lane in 0..left {
            sums[lane] += sums[lane + left];
        }
        left /= 2;
    }
    sums[0]
}
// ANCHOR_END: sum_along_k

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_reaches_the_bits() {
        // 2^24 + 1 is no f32: it is rounded to 2^24.
        let weights = [16_777_216.0, 1.0, -16_777_216.0, 1.0];
        assert_eq!(sum_along_k(&weights, &[1.0; 4], 1), 1.0);
        assert_eq!(sum_along_k(&weights, &[1.0; 4], 2), 2.0);
    }
}
