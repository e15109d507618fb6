use super::partial_rotary::partial_rotary;
use crate::support::{Case, Random};

fn given(rule: &str, x: &[f32], position: usize, theta: f64, rotated: usize) -> Case {
    Case::rule(rule)
        .given("x", x)
        .given("position", position)
        .given("theta", theta)
        .given("rotated", rotated)
}

#[track_caller]
fn check(rule: &str, x: &[f32], position: usize, theta: f64, rotated: usize) {
    let mut expected = x.to_vec();
    for i in 0..rotated / 2 {
        let angle = position as f64 * theta.powf(-2.0 * i as f64 / rotated as f64);
        let (a, b) = (f64::from(x[i]), f64::from(x[i + rotated / 2]));
        expected[i] = (a * angle.cos() - b * angle.sin()) as f32;
        expected[i + rotated / 2] = (b * angle.cos() + a * angle.sin()) as f32;
    }
    let case = given(rule, x, position, theta, rotated);
    case.close(&expected, &partial_rotary(x, position, theta, rotated), 1e-4);
}

#[test]
fn the_example_of_the_task() {
    let x = [1.0, 1.0, 0.0, 0.0, 5.0, 6.0];
    let case = given(
        "the example above the function: number i is paired with number i + rotated / 2, the exponent is -2i / rotated, and the rest stays",
        &x,
        1,
        10_000.0,
        4,
    );
    let expected = [0.540_302, 0.999_95, 0.841_471, 0.009_999_8, 5.0, 6.0];
    case.close(&expected, &partial_rotary(&x, 1, 10_000.0, 4), 1e-4);
}

#[test]
fn the_rest_stays() {
    let rule = "the numbers from `rotated` on stay as they are, to the bit";
    let mut x: Vec<f32> = (0..10).map(|i| i as f32 / 3.0).collect();
    x[9] = -0.0;
    let bits = |x: &[f32]| -> Vec<u32> { x.iter().map(|x| x.to_bits()).collect() };
    for rotated in [0, 2, 6, 10] {
        let case = given(rule, &x, 77, 10_000.0, rotated);
        let found = partial_rotary(&x, 77, 10_000.0, rotated);
        case.holds(
            found.len() == x.len() && bits(&found[rotated..]) == bits(&x[rotated..]),
            &format!("{x:?} from index {rotated} on"),
            &found,
        );
    }
}

#[test]
fn pairs_are_those_of_the_smaller_head() {
    let rule = "number i is paired with number i + rotated / 2";
    check(rule, &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 1, 10_000.0, 4);
    check(rule, &[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], 1, 10_000.0, 4);
    check(rule, &[0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0], 300, 10_000.0, 6);
}

#[test]
fn frequencies_are_those_of_the_smaller_head() {
    let rule = "the exponent is -2i / rotated";
    check(rule, &[0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 50, 10_000.0, 4);
    check(rule, &[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], 500, 10_000.0, 6);
}

#[test]
fn a_whole_head() {
    let rule = "if all numbers are rotated, it is RoPE";
    check(rule, &[1.0, 2.0, 3.0, 4.0], 9, 10_000.0, 4);
    check(rule, &[3.0, 4.0], 1, 10_000.0, 2);
    let rule = "if none is rotated, nothing changes";
    check(rule, &[1.0, 2.0, 3.0, 4.0], 9, 10_000.0, 0);
}

#[test]
fn any_part() {
    let mut random = Random::new(48);
    for _ in 0..300 {
        let head_dim = 2 + random.below(15);
        let rotated = 2 * random.below(head_dim / 2 + 1);
        let theta = [100.0, 10_000.0, 1e6][random.below(3)];
        check(
            "any part of a head",
            &random.scores(head_dim),
            random.below(500),
            theta,
            rotated,
        );
    }
}

#[test]
fn a_position_far_into_the_text() {
    let rule = "the angle of a far position is right too: an f32 has too few digits for it";
    check(rule, &[1.0, 0.5, 0.25, 0.0, 3.0, 4.0], 1_000_003, 10_000.0, 4);
}
