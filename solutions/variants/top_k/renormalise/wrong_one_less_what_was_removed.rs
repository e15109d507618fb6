//! Divided by 1 less the sum of what was removed: right only where the sum was 1, and little is
//! lost in rounding.

pub fn renormalise(probabilities: &[f32], kept: &[bool]) -> Vec<f32> {
    let left = |(&probability, &kept): (&f32, &bool)| if kept { probability } else { 0.0 };
    let left: Vec<f32> = probabilities.iter().zip(kept).map(left).collect();
    let sum: f32 =
        1.0 - probabilities.iter().zip(kept).map(|(p, k)| if *k { 0.0 } else { *p }).sum::<f32>();
    left.iter().map(|probability| probability / sum).collect()
}
