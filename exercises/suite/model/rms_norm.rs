use super::rms_norm::rms_norm;
use crate::support::{Case, Random};

fn check(rule: &str, x: &[f32], weight: &[f32], eps: f32, expected: &[f32]) {
    let case = Case::rule(rule).given("x", x).given("weight", weight).given("eps", eps);
    let greatest = expected.iter().fold(0.0_f32, |greatest, y| greatest.max(y.abs()));
    case.close(expected, &rms_norm(x, weight, eps), 1e-4 * greatest);
}

#[test]
fn the_vector_of_the_page() {
    let rule = "each number is divided by the root of the mean of the squares, and multiplied by its weight, here 1";
    check(rule, &[3.0, 4.0], &[1.0, 1.0], 0.0, &[0.848_528, 1.131_371]);
}

#[test]
fn equal_numbers_become_one() {
    for length in [1, 2, 5, 9] {
        let rule = "the mean is taken over all numbers: equal ones become 1 in any number";
        check(rule, &vec![7.0; length], &vec![1.0; length], 0.0, &vec![1.0; length]);
    }
}

#[test]
fn the_mean_is_that_of_the_whole_vector() {
    let rule = "the mean is taken over all numbers, also of a long vector";
    let half = |first: f32, second: f32| [[first; 100], [second; 100]].concat();
    let (root, weight) = (2.0_f32.sqrt(), [1.0; 200]);
    check(rule, &half(0.0, 2.0), &weight, 0.0, &half(0.0, root));
    check(rule, &half(2.0, 0.0), &weight, 0.0, &half(root, 0.0));
    let case = Case::rule(rule).given("x", "5,000 zeros and 5,000 twos").given("weight", "ones");
    let found = rms_norm(&[[0.0; 5000], [2.0; 5000]].concat(), &[1.0; 10_000], 0.0);
    let (expected, last) = (format!("a last number of {root}"), found.last().copied());
    case.holds(last.is_some_and(|last| (last - root).abs() < 1e-4), &expected, last);
}

#[test]
fn the_mean_is_not_taken_away() {
    let rule = "numbers keep their sign, and nothing is subtracted";
    check(rule, &[-2.0, 2.0, 2.0, 2.0], &[1.0; 4], 0.0, &[-1.0, 1.0, 1.0, 1.0]);
    check(
        rule,
        &[0.0, 5.0, 0.0, 0.0, 0.0],
        &[1.0; 5],
        0.0,
        &[0.0, 2.236_068, 0.0, 0.0, 0.0],
    );
}

#[test]
fn each_number_has_its_weight() {
    let rule = "number i is multiplied by weight i, after the division";
    check(rule, &[3.0, 4.0], &[10.0, -1.0], 0.0, &[8.485_281, -1.131_371]);
    check(rule, &[-2.0, 2.0], &[300.0, 0.0], 0.0, &[-300.0, 0.0]);
}

#[test]
fn zeros_stay_zeros() {
    let rule = "eps keeps a vector of zeros from being divided by zero";
    check(rule, &[0.0, 0.0], &[1.0, 1.0], 1e-5, &[0.0, 0.0]);
}

#[test]
fn a_short_vector_is_no_vector_of_zeros() {
    let rule = "a vector is divided by its root mean square, however short it is";
    check(rule, &[3e-11, -4e-11], &[1.0, 1.0], 0.0, &[0.848_528, -1.131_371]);
}

#[test]
fn eps_is_added_under_the_root() {
    let rule = "eps is added to the mean of the squares, under the root";
    check(rule, &[0.5, 0.5], &[1.0, 1.0], 0.75, &[0.5, 0.5]);
}

#[test]
fn the_length_does_not_matter() {
    let mut random = Random::new(0);
    for count in 1..50 {
        let x = random.scores(count);
        for factor in [8.0, 1.0 / 4096.0] {
            let other: Vec<f32> = x.iter().map(|x| x * factor).collect();
            let weight = vec![1.0; count];
            let case = Case::rule("a vector that is longer or shorter gives the same result")
                .given("x", &other)
                .given("the result for another x", &x)
                .given("weight", &weight)
                .given("eps", 0.0);
            case.close(&rms_norm(&x, &weight, 0.0), &rms_norm(&other, &weight, 0.0), 1e-3);
        }
    }
}
