use super::toward_zero::quantize;
use crate::support::{Case, Random};

#[track_caller]
fn check(rule: &str, weights: &[f32], expected: &[i8]) {
    let case = Case::rule(rule).given("weights", weights);
    let (scale, integers) = quantize(weights);
    case.close(&[1.0], &[scale], 1e-6);
    case.equal(expected.to_vec(), integers);
}

#[test]
fn whole_multiples_are_kept() {
    check(
        "weights that are integers times the scale are kept",
        &[7.0, -7.0, 3.0, 0.0],
        &[7, -7, 3, 0],
    );
}

#[test]
fn positive_weights_are_rounded_to_nearest() {
    check(
        "2.6 is nearest to 3, and 2.4 to 2",
        &[7.0, 2.6, 2.4, 0.4, 0.8],
        &[7, 3, 2, 0, 1],
    );
    check("6.9 is nearest to 7", &[7.0, 6.9, 6.1], &[7, 7, 6]);
}

#[test]
fn negative_weights_are_rounded_to_nearest() {
    let weights = [-7.0, -2.6, -2.4, -0.4, -0.8];
    check("-2.6 is nearest to -3, and -2.4 to -2", &weights, &[-7, -3, -2, 0, -1]);
}

#[test]
fn a_group_of_zeros_is_zeros() {
    let case = Case::rule("where all weights are 0, scale and integers are 0");
    case.equal((0.0, vec![0, 0]), quantize(&[0.0, -0.0]));
}

#[test]
fn nothing_shrinks_on_average() {
    let mut random = Random::new(9);
    let mut weights: Vec<f32> = (0..999).map(|_| random.float(-1.0, 1.0)).collect();
    weights.push(1.0);
    let case =
        Case::rule("rounded to nearest, what is stored is as large as the weights on average")
            .given("weights", "1000 numbers between -1 and 1");
    let (scale, integers) = quantize(&weights);
    let of_weights: f32 = weights.iter().map(|weight| weight.abs()).sum();
    let of_stored: f32 = integers.iter().map(|integer| (scale * f32::from(*integer)).abs()).sum();
    let ratio = of_stored / of_weights;
    case.holds((0.97..1.03).contains(&ratio), "a ratio of 0.97 to 1.03", ratio);
    for (weight, integer) in weights.iter().zip(&integers) {
        let error = (weight - scale * f32::from(*integer)).abs();
        let found = format!("{weight} is {integer} times {scale}");
        case.holds(error <= 0.5001 * scale, "an error of at most half a scale", found);
    }
}
