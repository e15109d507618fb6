use super::two_sums::linear;
use crate::support::{Case, Random};

fn case(rule: &str, weights: &[Vec<f32>], x: &[Vec<f32>]) -> Case {
    Case::rule(rule).given("weights", weights).given("x", x)
}

fn bits(rows: &[Vec<f32>]) -> Vec<Vec<u32>> {
    rows.iter().map(|row| row.iter().map(|y| y.to_bits()).collect()).collect()
}

#[test]
fn outputs_and_rows_are_in_their_places() {
    let weights = [vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0]];
    let x = [vec![2.0, 3.0], vec![5.0, 7.0]];
    let rule = "`[rows][n_out]`";
    let expected = vec![vec![2.0, 3.0, 5.0], vec![5.0, 7.0, 12.0]];
    case(rule, &weights, &x).equal(expected, linear(&weights, &x));
    case(rule, &weights, &x[..1]).equal(vec![vec![2.0, 3.0, 5.0]], linear(&weights, &x[..1]));
    case("no rows, no results", &weights, &[]).equal(0, linear(&weights, &[]).len());
}

#[test]
fn products_are_taken_in_the_order_of_k() {
    let big = 16_777_216.0; // 2^24: with 1 more it is rounded to itself
    for (weights, expected) in [
        (vec![big, 1.0, -big, 1.0], 1.0),
        (vec![1.0, big, -big], 0.0),
        (vec![big, 1.0, 1.0, 1.0, 1.0, -big], 0.0),
        (vec![big, -big, 1.0], 1.0),
    ] {
        let x = vec![vec![1.0; weights.len()]; 3];
        let weights = [weights];
        for rows in 1..=3 {
            let case = case("the sum takes the products from k = 0 upwards", &weights, &x[..rows]);
            case.equal(vec![vec![expected]; rows], linear(&weights, &x[..rows]));
        }
    }
}

#[test]
fn a_product_is_not_rounded_before_it_is_added() {
    let near_one = 1.0 + 1.0 / 4096.0;
    let weights = [vec![-1.0, near_one]];
    let x = vec![vec![1.0, near_one]; 2];
    let expected = 1.0 / 2048.0 + 1.0 / 16_777_216.0;
    for rows in 1..=2 {
        let case = case("by `mul_add`, which is rounded once", &weights, &x[..rows]);
        case.equal(vec![vec![expected]; rows], linear(&weights, &x[..rows]));
    }

    // The sum is a little less than half way between two numbers. An f64 rounds it to half way.
    let next = 1.0 + f32::EPSILON;
    let half = f32::EPSILON / 2.0;
    let weights = [vec![next, half * next]];
    let x = vec![vec![1.0, 1.0 - f32::EPSILON]; 2];
    for rows in 1..=2 {
        let case = case("by `mul_add` of f32: in f64 it is rounded twice", &weights, &x[..rows]);
        case.equal(vec![vec![next]; rows], linear(&weights, &x[..rows]));
    }
}

#[test]
fn a_sum_begins_at_zero_and_takes_every_product() {
    for rows in 1..=2 {
        let (weights, x) = ([vec![-1.0]], vec![vec![0.0]; rows]);
        let case = self::case("0 + -0 is 0, and not -0 (these are the bits)", &weights, &x);
        case.equal(vec![vec![0]; rows], bits(&linear(&weights, &x)));
        let (weights, x) = ([vec![f32::INFINITY, 1.0]], vec![vec![0.0, 1.0]; rows]);
        let case = self::case("every product is added: 0 times infinity is NaN", &weights, &x);
        let found = linear(&weights, &x);
        case.equal(true, found.iter().all(|row| row[0].is_nan()));
    }
}

#[test]
fn a_row_has_the_same_bits_in_any_company() {
    let mut random = Random::new(14);
    for (n_out, n_in) in [(1, 1), (3, 4), (2, 7), (5, 64), (3, 301)] {
        let mut matrix = |rows: usize| -> Vec<Vec<f32>> {
            (0..rows).map(|_| (0..n_in).map(|_| random.float(-1.0, 1.0)).collect()).collect()
        };
        let (weights, x) = (matrix(n_out), matrix(9));
        let reference: Vec<Vec<f32>> = x
            .iter()
            .map(|x| {
                let sum = |weights: &Vec<f32>| {
                    weights.iter().zip(x).fold(0.0_f32, |sum, (w, x)| w.mul_add(*x, sum))
                };
                weights.iter().map(sum).collect()
            })
            .collect();
        for rows in [1, 2, 3, 4, 8, 9] {
            for first in 0..=9 - rows {
                let case = Case::rule("a row is bit-identical alone and among others")
                    .given("inputs", n_in)
                    .given("rows", rows)
                    .given("first row", first);
                let found = linear(&weights, &x[first..first + rows]);
                case.equal(bits(&reference[first..first + rows]), bits(&found));
            }
        }
    }
}
