use super::swiglu::swiglu;
use crate::support::{Case, Random};

type Matrix = Vec<Vec<f32>>;

fn check(rule: &str, x: &[f32], [gate, up, down]: [&Matrix; 3], expected: &[f32]) {
    let case =
        Case::rule(rule).given("x", x).given("gate", gate).given("up", up).given("down", down);
    case.close(expected, &swiglu(x, gate, up, down), 1e-3);
}

#[test]
fn the_switch_of_the_page() {
    let one = vec![vec![1.0]];
    let numbers = [
        (2.0, 1.761_594),
        (0.0, 0.0),
        (-2.0, -0.238_406),
        (-6.0, -0.014_836),
    ];
    for (gate, expected) in numbers {
        let rule = "up's number, here 1, is multiplied with silu(z) = z / (1 + e^-z) of the gate's: a large z passes, 0 passes nothing, and -2 still a little, unlike in ReLU";
        check(rule, &[1.0], [&vec![vec![gate]], &one, &one], &[expected]);
    }
}

#[test]
fn all_of_d_ff_counts() {
    let case = Case::rule(
        "each of the d_ff numbers in the middle counts, and the rows of down are what comes out",
    )
    .given("x, gate, up and down", "all numbers are 1, and d_ff is 300");
    let ones = vec![vec![1.0]; 300];
    let found = swiglu(&[1.0], &ones, &ones, &[vec![1.0; 300]]);
    case.close(&[300.0 * 0.731_058_6], &found, 1e-2);
}

#[test]
fn a_very_large_number_in_the_gate() {
    let rule = "if e^z is infinite in an f32, silu(z) is z, and if e^-z is, it is 0";
    let one = vec![vec![1.0]];
    for (gate, expected) in [
        (30.0, 30.0),
        (100.0, 100.0),
        (1000.0, 1000.0),
        (-100.0, 0.0),
        (-1000.0, 0.0),
    ] {
        check(rule, &[1.0], [&vec![vec![gate]], &one, &one], &[expected]);
    }
}

#[test]
fn the_switch_is_on_the_gate_alone() {
    let rule = "silu is applied to the gate's result, and to nothing else";
    let one = vec![vec![1.0]];
    check(rule, &[1.0], [&vec![vec![2.0]], &vec![vec![-3.0]], &one], &[-5.284_783]);
    check(rule, &[2.0], [&one, &vec![vec![3.0]], &one], &[10.569_565]);
    check(rule, &[-1.0], [&vec![vec![-2.0]], &vec![vec![3.0]], &one], &[-5.284_783]);
    check(rule, &[1.0], [&vec![vec![2.0]], &vec![vec![-100.0]], &one], &[-176.159_4]);
    let rule = "silu(-12) is small, and not 0: a large number times it is 7";
    check(rule, &[1.0], [&vec![vec![-12.0]], &vec![vec![-1e5]], &one], &[7.373_01]);
}

#[test]
fn wide_in_the_middle() {
    // Two numbers in, three in the middle, two out.
    let rule = "gate and up make d_ff numbers of d_model, and down makes d_model of d_ff";
    let gate = vec![vec![2.0, 0.0], vec![0.0, 2.0], vec![0.0, 0.0]];
    let up = vec![vec![1.0, 1.0], vec![1.0, -1.0], vec![5.0, 5.0]];
    let down = vec![vec![1.0, 0.0, 9.0], vec![0.0, 10.0, 9.0]];
    check(rule, &[1.0, 2.0], [&gate, &up, &down], &[5.284_783, -39.280_552]);
    // One number in, 20 in the middle.
    let twenty = vec![vec![2.0]; 20];
    check(rule, &[1.0], [&twenty, &twenty, &vec![vec![0.5; 20]]], &[35.231_884]);
}

#[test]
fn rows_belong_to_what_comes_out() {
    // As wide as in the middle: nothing but the numbers tells rows from columns.
    let rule = "each number that comes out is the product of its row and the vector";
    let [gate, up] = [
        vec![vec![2.0, 0.0], vec![2.0, 0.0]],
        vec![vec![1.0, 0.0], vec![3.0, 0.0]],
    ];
    let down = vec![vec![1.0, 0.0], vec![1.0, 1.0]];
    check(rule, &[1.0, 7.0], [&gate, &up, &down], &[1.761_594, 7.046_377]);
}

#[test]
fn a_closed_gate_lets_nothing_through() {
    let mut random = Random::new(0);
    for (d_model, d_ff) in [(1, 1), (2, 3), (4, 2), (3, 8)] {
        let x = random.scores(d_model);
        let gate = vec![vec![0.0; d_model]; d_ff];
        let up: Matrix = (0..d_ff).map(|_| random.scores(d_model)).collect();
        let down: Matrix = (0..d_model).map(|_| random.scores(d_ff)).collect();
        let rule = "if the gate gives 0, nothing of the other half passes";
        check(rule, &x, [&gate, &up, &down], &vec![0.0; d_model]);
    }
}

#[test]
fn the_formula_on_full_matrices() {
    let mut random = Random::new(1);
    for (d_model, d_ff) in [(2, 1), (2, 2), (3, 5), (5, 3)] {
        let mut matrix = |rows: usize, width: usize| -> Matrix {
            let mut row = || (0..width).map(|_| random.float(-1.0, 1.0)).collect();
            (0..rows).map(|_| row()).collect()
        };
        let x = matrix(1, d_model).remove(0);
        let (gate, up) = (matrix(d_ff, d_model), matrix(d_ff, d_model));
        let down = matrix(d_model, d_ff);
        let product = |row: &[f32], x: &[f64]| -> f64 {
            row.iter().zip(x).map(|(a, b)| f64::from(*a) * b).sum()
        };
        let wide: Vec<f64> = x.iter().copied().map(f64::from).collect();
        let middle: Vec<f64> = gate
            .iter()
            .zip(&up)
            .map(|(gate, up)| {
                let z = product(gate, &wide);
                z / (1.0 + (-z).exp()) * product(up, &wide)
            })
            .collect();
        let expected: Vec<f32> = down.iter().map(|row| product(row, &middle) as f32).collect();
        let rule = "y = W_down (silu(W_gate x) * W_up x)";
        check(rule, &x, [&gate, &up, &down], &expected);
    }
}

#[test]
fn what_is_multiplied_with_nothing_is_nothing() {
    let rule = "the gate is multiplied by the result of `up`, even if that is 0";
    let (gate, one) = (vec![vec![2.0]], vec![vec![1.0]]);
    check(rule, &[1.0], [&gate, &vec![vec![0.0]], &one], &[0.0]);
}
