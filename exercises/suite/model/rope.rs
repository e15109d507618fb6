use super::rope::rope;
use crate::support::{Case, Random};

const TOLERANCE: f32 = 1e-4;

fn given(rule: &str, x: &[f32], position: usize, theta: f64) -> Case {
    Case::rule(rule).given("x", x).given("position", position).given("theta", theta)
}

fn check(rule: &str, x: &[f32], position: usize, theta: f64, expected: &[f32]) {
    let case = given(rule, x, position, theta);
    case.close(expected, &rope(x, position, theta), TOLERANCE);
}

#[test]
fn position_0_is_not_turned() {
    let rule = "at position 0 every angle is 0";
    check(rule, &[1.0, 2.0, 3.0, 4.0], 0, 10_000.0, &[1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn the_first_pair_turns_by_one_radian_a_position() {
    let rule = "pair 0 turns by 1 radian a position: (1, 0) becomes (cos, sin) of the position";
    for position in 1..5 {
        let angle = position as f32;
        check(rule, &[1.0, 0.0], position, 10_000.0, &[angle.cos(), angle.sin()]);
    }
}

#[test]
fn both_numbers_of_a_pair_are_turned() {
    let rule = "b' = b cos(phi) + a sin(phi), with the a from before it was turned";
    check(rule, &[0.0, 1.0], 1, 10_000.0, &[-0.841_471, 0.540_302]);
    check(rule, &[3.0, 4.0], 1, 10_000.0, &[-1.744_977, 4.685_622]);
}

#[test]
fn a_pair_has_one_number_in_each_half() {
    // Pair 0: its angle is the position, whatever theta is.
    let rule = "number i is paired with number i + head_dim / 2, and not with its neighbour: here number 0";
    check(rule, &[1.0, 0.0, 0.0, 0.0], 1, 10_000.0, &[0.540_302, 0.0, 0.841_471, 0.0]);
    let x = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    check(rule, &x, 1, 10_000.0, &[0.540_302, 0.0, 0.0, 0.841_471, 0.0, 0.0]);
    let x = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
    check(rule, &x, 1, 10_000.0, &[-0.841_471, 0.0, 0.0, 0.540_302, 0.0, 0.0]);
}

#[test]
fn later_pairs_turn_more_slowly() {
    let rule = "pair i turns by theta^(-2i / head_dim) a position: here pair 1 of 2 by 0.01";
    let angle = 0.3_f32;
    check(rule, &[0.0, 1.0, 0.0, 0.0], 30, 10_000.0, &[0.0, angle.cos(), 0.0, angle.sin()]);
    for (pair, rate) in [(8, 0.1), (16, 0.01), (24, 0.001)] {
        let rule = format!(
            "pair i turns by theta^(-2i / head_dim) a position: here pair {pair} of 32 by {rate}"
        );
        let (mut x, mut expected) = ([0.0; 64], [0.0; 64]);
        x[pair] = 1.0;
        expected[pair] = (30.0 * rate as f32).cos();
        expected[pair + 32] = (30.0 * rate as f32).sin();
        check(&rule, &x, 30, 10_000.0, &expected);
    }
}

#[test]
fn theta_is_the_one_that_is_given() {
    let angle = 0.3_f32;
    let rule = "theta is the argument: with 100, pair 1 of 2 turns by 0.1 a position";
    check(rule, &[0.0, 1.0, 0.0, 0.0], 3, 100.0, &[0.0, angle.cos(), 0.0, angle.sin()]);
    let rule = "theta is the argument: with 1000, pair 2 of 3 turns by 0.01 a position";
    let x = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    check(rule, &x, 30, 1_000.0, &[0.0, 0.0, angle.cos(), 0.0, 0.0, angle.sin()]);
    let rule = "theta is the argument: with 1, all pairs turn alike";
    check(
        rule,
        &[1.0, 2.0, 0.0, 0.0],
        1,
        1.0,
        &[0.540_302, 1.080_605, 0.841_471, 1.682_942],
    );
}

#[test]
fn a_small_angle_turns_too() {
    let rule = "the cosine of a small angle is less than 1: here of 0.019";
    check(rule, &[0.0, 1.0, 0.0, 0.0], 19, 1e6, &[0.0, 0.999_820, 0.0, 0.018_999]);
}

#[test]
fn a_position_far_into_the_text() {
    let rule = "the angle of a far position is right too: an f32 has too few digits for it";
    check(rule, &[1.0, 0.0], 100_003, 10_000.0, &[0.984_315, -0.176_421]);
    check(rule, &[1.0, 0.0], 131_071, 10_000.0, &[-0.817_983, -0.575_242]);
    check(rule, &[1.0, 0.0], 3_000_000, 10_000.0, &[0.477761, -0.878490]);
    let (mut x, mut expected) = ([0.0; 64], [0.0; 64]);
    x[1] = 1.0;
    expected[1] = -0.279_409;
    expected[33] = 0.960_172;
    check(rule, &x, 100_003, 10_000.0, &expected);
    let x = [0.0, 1.0, 0.0, 0.0];
    check(rule, &x, 100_003, 500_000.0, &[0.0, -0.998_546, 0.0, -0.053_903]);
}

#[test]
fn the_length_stays() {
    let mut random = Random::new(0);
    for half in 1..24 {
        let (x, position) = (random.scores(2 * half), random.below(100));
        let case = given("a rotation does not change the length", &x, position, 10_000.0);
        let length = |x: &[f32]| x.iter().map(|x| x * x).sum::<f32>().sqrt();
        let found = rope(&x, position, 10_000.0);
        case.close(&[length(&x)], &[length(&found)], 1e-3);
    }
}

#[test]
fn only_the_distance_counts() {
    let mut random = Random::new(1);
    for half in 1..12 {
        let (q, k) = (random.scores(2 * half), random.scores(2 * half));
        let (near, far) = (random.below(20), random.below(20));
        let product = |shift| -> f32 {
            let q = rope(&q, far + shift, 10_000.0);
            let k = rope(&k, near + shift, 10_000.0);
            q.iter().zip(&k).map(|(q, k)| q * k).sum()
        };
        let case = Case::rule(
            "the product of a query and a key depends on their distance, not on where they stand",
        )
        .given("query", &q)
        .given("key", &k)
        .given("positions", [far, near])
        .given("positions, both moved by 13", [far + 13, near + 13]);
        case.close(&[product(0)], &[product(13)], 1e-2);
    }
}
