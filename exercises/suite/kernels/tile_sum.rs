use super::tile_sum::{DEPTH, tile_sum};
use crate::support::{Case, Random};

/// 2^24. The next f32 is two more, so 1 added to it is lost.
const BIG: f32 = 16_777_216.0;

#[track_caller]
fn sums_to(rule: &str, weights: &[f32], output: f32, expected: f32) {
    let x = vec![1.0; weights.len()];
    let case = Case::rule(rule).given("weights", weights).given("x", "1 everywhere");
    let case = case.given("output", output);
    case.equal(expected, tile_sum(weights, &x, output));
}

/// Zeros, but for some weights.
fn weights(n: usize, set: &[(usize, f32)]) -> Vec<f32> {
    let mut weights = vec![0.0; n];
    for (k, weight) in set {
        weights[*k] = *weight;
    }
    weights
}

#[test]
fn all_products_count() {
    let case = Case::rule("the sum of all products").given("weights", [1, 2, 3]);
    let case = case.given("x", [10, 100, 1000]).given("output", 5);
    case.equal(3215.0, tile_sum(&[1.0, 2.0, 3.0], &[10.0, 100.0, 1000.0], 5.0));
    let n = 3 * DEPTH + 5;
    sums_to("the sum of all products, however many", &vec![1.0; n], 0.0, n as f32);
    sums_to("no products leave the output as it was", &[], 7.0, 7.0);
}

#[test]
fn even_inputs_and_odd_inputs_have_a_sum_each() {
    let rule = "2^24 and -2^24 cancel in the even sum, and the odd sum is 1 + 1";
    sums_to(rule, &[BIG, 1.0, -BIG, 1.0], 0.0, 2.0);
    let rule = "2^24 + 1 is 2^24 in the even sum, and 1 - 2^24 stays exact in the odd sum";
    sums_to(rule, &[BIG, 1.0, 1.0, -BIG], 0.0, 1.0);
    // The halves of a tile are not its even and odd inputs.
    let rule = "even and odd inputs, not the first half and the second";
    sums_to(rule, &weights(DEPTH, &[(0, BIG), (1, 1.0), (DEPTH - 2, -BIG)]), 0.0, 1.0);
}

#[test]
fn each_sum_is_added_up_in_order() {
    let rule = "the even sum in order: 1 + 2^24 is 2^24, and - 2^24 leaves 0";
    sums_to(rule, &[1.0, 0.0, BIG, 0.0, -BIG], 0.0, 0.0);
    let rule = "the odd sum in order: 2^24 - 2^24 is 0, and + 1 is 1";
    sums_to(rule, &[0.0, BIG, 0.0, -BIG, 0.0, 1.0], 0.0, 1.0);
}

#[test]
fn the_sums_begin_at_zero() {
    let rule =
        "the products are summed before they meet the output: 1 + 1 is 2, and 2^24 + 2 is exact";
    sums_to(rule, &[1.0, 0.0, 1.0], BIG, BIG + 2.0);
}

#[test]
fn both_sums_are_added_before_the_output() {
    let rule = "even + odd is 1 + 1, and then 2^24 + 2 is exact; one by one, both would be lost";
    sums_to(rule, &[1.0, 1.0], BIG, BIG + 2.0);
}

#[test]
fn after_so_many_inputs_the_sums_begin_anew() {
    let rule = "32 inputs at a time: the second part is summed from zero, 1 + 1, and then added";
    let n = DEPTH + 2;
    let second = weights(n, &[(0, BIG), (DEPTH, 1.0), (DEPTH + 1, 1.0)]);
    sums_to(rule, &second, 0.0, BIG + 2.0);
    let rule =
        "32 inputs at a time: the first part has reached the output before the second begins";
    let n = DEPTH + 1;
    let first = weights(n, &[(0, 1.0), (DEPTH - 1, BIG), (DEPTH, -BIG)]);
    sums_to(rule, &first, 0.0, 0.0);
}

#[test]
fn the_last_part_may_be_shorter() {
    let rule = "33 inputs are a part of 32 and a part of 1";
    let n = DEPTH + 1;
    sums_to(rule, &weights(n, &[(0, BIG), (DEPTH, 2.0)]), 0.0, BIG + 2.0);
}

#[test]
fn it_gives_the_bits_of_the_definition() {
    let mut random = Random::new(41);
    for n in [1, 2, 31, 32, 33, 64, 101] {
        let mut numbers = || -> Vec<f32> {
            let short = |x: f32| f32::from_bits(x.to_bits() & 0xffff_0000);
            (0..n).map(|_| short(random.float(-4.0, 4.0))).collect()
        };
        let (weights, x) = (numbers(), numbers());
        let mut expected = 0.25_f32;
        let mut part = 0;
        while part < n {
            let end = (part + DEPTH).min(n);
            let sum = |first: usize| {
                (part + first..end).step_by(2).fold(0.0_f32, |sum, k| sum + weights[k] * x[k])
            };
            expected += sum(0) + sum(1);
            part = end;
        }
        let case = Case::rule("to the last bit, whatever the numbers (these are the bits)");
        let case = case.given("inputs", n).given("expected sum", expected);
        let sum = tile_sum(&weights, &x, 0.25);
        case.given("your sum", sum).equal(expected.to_bits(), sum.to_bits());
    }
}
