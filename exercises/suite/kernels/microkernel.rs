use super::microkernel::{LANES, microkernel, pack};
use crate::support::{Case, Random};

fn case<const M: usize>(rule: &str, panel: &[[f32; LANES]], x: &[[f32; M]]) -> Case {
    Case::rule(rule).given("panel", panel).given("x", x).given("rows", M)
}

fn bits<const M: usize>(sums: &[[f32; LANES]; M]) -> Vec<Vec<u32>> {
    sums.iter().map(|row| row.iter().map(|sum| sum.to_bits()).collect()).collect()
}

#[test]
fn a_worked_example() {
    let panel = [[1.0, 2.0, 3.0, 4.0], [5.0, 0.0, 0.0, 0.0]];
    let x = [[1.0, 10.0], [2.0, 0.0]];
    let case = case("lanes are outputs, and each row has its own sums", &panel, &x);
    case.equal([[11.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]], microkernel(&panel, &x));
}

#[test]
fn without_products_a_sum_is_zero() {
    let case = case::<3>("a sum begins at 0", &[], &[]);
    case.equal(bits(&[[0.0; LANES]; 3]), bits(&microkernel::<3>(&[], &[])));
    let (panel, x) = ([[-1.0; LANES]], [[0.0]]);
    let rule = "a sum begins at 0: 0 + -0 is 0, and not -0 (these are the bits)";
    let case = self::case(rule, &panel, &x);
    case.equal(bits(&[[0.0; LANES]]), bits(&microkernel(&panel, &x)));
}

#[test]
fn every_product_counts() {
    let (panel, x) = ([[f32::INFINITY, 1.0, 2.0, f32::NAN]], [[0.0]]);
    let case = case("every product is added: 0 times infinity is NaN", &panel, &x);
    case.equal([true, false, false, true], microkernel(&panel, &x)[0].map(f32::is_nan));
    let (panel, x) = ([[0.0, 1.0, 0.0, 2.0]], [[f32::INFINITY]]);
    let case = self::case("a weight of 0 times infinity is NaN too", &panel, &x);
    case.equal([true, false, true, false], microkernel(&panel, &x)[0].map(f32::is_nan));
    let (panel, x) = ([[1e-30; LANES]], [[1e-10]]);
    let case = self::case("small sums are sums too", &panel, &x);
    case.equal([[1e-30_f32 * 1e-10; LANES]], microkernel(&panel, &x));
}

#[test]
fn there_may_be_many_rows() {
    let panel = [[1.0, 2.0, 3.0, 4.0]];
    let x = [std::array::from_fn::<f32, 9, _>(|row| (row + 1) as f32)];
    let case = case("each of the M rows has its sums", &panel, &x);
    let sums = microkernel(&panel, &x);
    case.equal([9.0, 18.0, 27.0, 36.0], sums[8]);
    case.equal([5.0, 10.0, 15.0, 20.0], sums[4]);
}

#[test]
fn products_are_taken_in_the_order_of_k() {
    // 2^24 + 1 is no f32: it is rounded to 2^24.
    let big = 16_777_216.0;
    let rule = "from k = 0 upwards: 2^24, + 1, - 2^24, + 1 is 1 in f32; other orders give 0 or 2";
    let panel = [[big; LANES], [1.0; LANES], [-big; LANES], [1.0; LANES]];
    let x = [[1.0]; 4];
    case(rule, &panel, &x).equal([[1.0; LANES]], microkernel(&panel, &x));
    let panel = [[1.0; LANES], [big; LANES], [-big; LANES]];
    let x = [[1.0]; 3];
    let rule = "from k = 0 upwards: 1, + 2^24, - 2^24 is 0 in f32; from the end it is 1";
    case(rule, &panel, &x).equal([[0.0; LANES]], microkernel(&panel, &x));
}

#[test]
fn a_multiply_add_is_rounded_once() {
    // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24, and the last part is lost where the product is rounded.
    let near_one = 1.0 + 1.0 / 4096.0;
    let panel = [[-1.0; LANES], [near_one; LANES]];
    let x = [[1.0], [near_one]];
    let rule = "by `mul_add`: the product is not rounded before it is added";
    let expected = 1.0 / 2048.0 + 1.0 / 16_777_216.0;
    case(rule, &panel, &x).equal([[expected; LANES]], microkernel(&panel, &x));

    // The sum is a little less than half way between two numbers. An f64 rounds it to half way.
    let next = 1.0 + f32::EPSILON;
    let half = f32::EPSILON / 2.0;
    let panel = [[next; LANES], [half * next; LANES]];
    let x = [[1.0], [1.0 - f32::EPSILON]];
    let rule = "by `mul_add` of f32: a step in f64 is rounded twice";
    case(rule, &panel, &x).equal([[next; LANES]], microkernel(&panel, &x));
}

#[test]
fn a_row_has_the_same_bits_in_any_company() {
    let mut random = Random::new(11);
    for k in [1, 2, 3, 7, 16, 33, 600] {
        let mut numbers = || -> [f32; LANES] { std::array::from_fn(|_| random.float(-1.0, 1.0)) };
        let panel: Vec<[f32; LANES]> = (0..k).map(|_| numbers()).collect();
        let x: Vec<[f32; 4]> = (0..k).map(|_| numbers()).collect();
        let of_four = case("four rows at once", &panel, &x);
        let together = microkernel(&panel, &x);
        drop(of_four);
        for row in 0..4 {
            let alone: Vec<[f32; 1]> = x.iter().map(|x| [x[row]]).collect();
            let case = case("a row is bit-identical alone and among four", &panel, &alone);
            case.equal(&bits(&microkernel(&panel, &alone))[0], &bits(&together)[row]);
            let expected: [f32; LANES] = std::array::from_fn(|lane| {
                let products = panel.iter().zip(&x);
                products.fold(0.0, |sum, (weights, x)| weights[lane].mul_add(x[row], sum))
            });
            let rule = "each output is the sum over k, from 0 upwards, by `mul_add`";
            let case = Case::rule(rule).given("panel", &panel).given("x", &x).given("row", row);
            case.equal(&bits(&[expected])[0], &bits(&together)[row]);
        }
    }
}

/// Weight `k` of output `o` is `10 * (o + 1) + k`, so that each says where it comes from.
fn matrix(n_out: usize, n_in: usize) -> Vec<Vec<f32>> {
    let row = |o: usize| (0..n_in).map(|k| (10 * (o + 1) + k) as f32).collect();
    (0..n_out).map(row).collect()
}

#[test]
fn the_weights_of_one_input_lie_side_by_side() {
    let weights = matrix(6, 3);
    let rule = "`[p][k][lane]` is the weight of output `p * LANES + lane` for input `k`, or 0";
    let case = Case::rule(rule).given("weights", &weights);
    let expected = vec![
        vec![
            [10.0, 20.0, 30.0, 40.0],
            [11.0, 21.0, 31.0, 41.0],
            [12.0, 22.0, 32.0, 42.0],
        ],
        vec![
            [50.0, 60.0, 0.0, 0.0],
            [51.0, 61.0, 0.0, 0.0],
            [52.0, 62.0, 0.0, 0.0],
        ],
    ];
    case.equal(expected, pack(&weights));
}

#[test]
fn the_last_panel_is_filled_up_with_zeros() {
    let weights = vec![vec![f32::INFINITY, -1.0]; 3];
    let case = Case::rule("zeros take the lanes that have no output (these are the bits)")
        .given("weights", &weights);
    let bits: Vec<u32> =
        pack(&weights).concat().iter().map(|lanes| lanes[LANES - 1].to_bits()).collect();
    case.equal(vec![0, 0], bits);
}

#[test]
fn panels_of_every_size() {
    for (n_out, n_in) in [(0, 0), (1, 1), (4, 2), (8, 3), (9, 1), (33, 2), (5, 0)] {
        let weights = matrix(n_out, n_in);
        let case = Case::rule("`[panels][n_in][LANES]`, and each weight in its place")
            .given("weights", &weights);
        let weight = |o: usize, k: usize| weights.get(o).map_or(0.0, |row| row[k]);
        let expected: Vec<Vec<[f32; LANES]>> = (0..n_out.div_ceil(LANES))
            .map(|p| (0..n_in).map(|k| std::array::from_fn(|i| weight(p * LANES + i, k))).collect())
            .collect();
        case.equal(expected, pack(&weights));
    }
}
