use super::lost_negatives::quantize;
use crate::support::{Case, Random};

/// No weight may be further than half a scale from what is stored.
#[track_caller]
fn check(rule: &str, weights: &[f32], expected: f32) {
    let case = Case::rule(rule).given("weights", weights);
    let (scale, integers) = quantize(weights);
    case.equal(weights.len(), integers.len());
    case.close(&[expected], &[scale], 1e-6 * expected);
    let stored: Vec<f32> = integers.iter().map(|i| scale * f32::from(*i)).collect();
    case.close(weights, &stored, 0.5001 * scale);
}

#[test]
fn the_greatest_weight_may_be_positive() {
    check("the scale is the greatest magnitude / 127", &[2.54, -1.27, 0.1], 0.02);
}

#[test]
fn the_weight_of_greatest_magnitude_may_be_negative() {
    check("the scale is the greatest magnitude / 127", &[-2.54, 1.27], 0.02);
    check("the scale is the greatest magnitude / 127", &[0.1, -1.27, 0.3, -2.54], 0.02);
}

#[test]
fn all_weights_may_be_negative() {
    check("a group without a positive weight has a scale too", &[-1.27, -0.5, -0.02], 0.01);
    check("a group of one negative weight has a scale", &[-1.27], 0.01);
}

#[test]
fn a_group_of_zeros_is_zeros() {
    let case = Case::rule("where all weights are 0, scale and integers are 0");
    case.equal((0.0, vec![0, 0]), quantize(&[0.0, -0.0]));
}

#[test]
fn a_negated_group_has_negated_integers() {
    let mut random = Random::new(7);
    for length in [1, 3, 32] {
        let weights: Vec<f32> = (0..length).map(|_| random.float(-1.0, 1.0)).collect();
        let negated: Vec<f32> = weights.iter().map(|weight| -weight).collect();
        let case =
            Case::rule("with all signs turned, the integers have their signs turned, and no more")
                .given("weights", &weights);
        let (scale, integers) = quantize(&weights);
        let (negated_scale, found) = quantize(&negated);
        case.close(&[scale], &[negated_scale], 1e-6);
        let expected: Vec<i8> = integers.iter().map(|integer| -integer).collect();
        case.equal(expected, found);
    }
}
