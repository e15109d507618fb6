use super::rows_by_expert::rows_by_expert;
use crate::support::{Case, Random};

type Rows = Vec<Vec<f32>>;

/// What expert `number` makes of a row.
fn computed(number: usize, row: &[f32]) -> Vec<f32> {
    let factor = 1.0 + number as f32 / 3.0;
    row.iter().enumerate().map(|(i, x)| x * factor + (i + number) as f32 / 7.0).collect()
}

#[track_caller]
fn check(rule: &str, x: &Rows, routing: &Rows) {
    let experts = routing.first().map_or(0, Vec::len);
    let mut calls = Vec::new();
    #[allow(clippy::needless_range_loop, reason = "the number of a column")]
    for number in 0..experts {
        let taken = (0..x.len()).filter(|&row| routing[row][number] != 0.0);
        let rows: Rows = taken.map(|row| x[row].clone()).collect();
        if !rows.is_empty() {
            calls.push((number, rows));
        }
    }
    let of_row = |row: usize| {
        let mut y = vec![0.0_f32; x[row].len()];
        #[allow(clippy::needless_range_loop, reason = "the number of a column")]
        for number in 0..experts {
            let weight = routing[row][number];
            if weight != 0.0 {
                for (y, computed) in y.iter_mut().zip(computed(number, &x[row])) {
                    *y += weight * computed;
                }
            }
        }
        y
    };
    let expected: Rows = (0..x.len()).map(of_row).collect();

    let case = || Case::rule(rule).given("x", x).given("routing", routing);
    let mut found_calls = Vec::new();
    let first = case();
    let found = rows_by_expert(x, routing, &mut |number, rows| {
        found_calls.push((number, rows.to_vec()));
        rows.iter().map(|row| computed(number, row)).collect()
    });
    first.close_rows(&expected, &found, 1e-4);
    found_calls.sort_by_key(|(number, _)| *number);
    let words = format!("the experts are computed with these rows, each once: {calls:?}");
    case().holds(found_calls == calls, &words, &found_calls);
    let bits = |rows: &Rows| -> Vec<u32> { rows.iter().flatten().map(|x| x.to_bits()).collect() };
    case().holds(
        bits(&expected) == bits(&found),
        &format!("the bits of {expected:?}: zeros, plus the experts in the order of their numbers"),
        &found,
    );
}

#[test]
fn the_example_of_the_task() {
    let routing = vec![
        vec![0.5, 0.5, 0.0],
        vec![0.0, 0.25, 0.75],
        vec![1.0, 0.0, 0.0],
    ];
    let x = vec![vec![1.0, 2.0], vec![3.0, 4.0], vec![5.0, 6.0]];
    check(
        "the example above the function: each expert once, with all rows that take it, and each row sums its experts in their order",
        &x,
        &routing,
    );
}

#[test]
fn an_expert_that_no_row_takes() {
    let rule = "an expert that no row takes is not computed";
    let x = vec![vec![1.0], vec![2.0]];
    check(rule, &x, &vec![vec![0.0, 1.0, 0.0], vec![0.0, 1.0, 0.0]]);
    check(rule, &x, &vec![vec![0.0, 0.0, 1.0], vec![1.0, 0.0, 0.0]]);
}

#[test]
fn a_small_weight_is_one() {
    let rule = "a row takes each expert whose weight is not 0, however small it is";
    let x = vec![vec![1e9], vec![2.0]];
    check(rule, &x, &vec![vec![1e-9, 1.0, 0.0], vec![0.5, 0.5, 0.0]]);
    check(rule, &x, &vec![vec![1.0, 0.0, 1e-9], vec![0.5, 0.5, 0.0]]);
}

#[test]
fn a_row_that_takes_none() {
    let rule = "a row that takes no expert stays zeros, as wide as the others";
    let x = vec![vec![1.0, 2.0], vec![3.0, 4.0]];
    check(rule, &x, &vec![vec![0.0, 0.0], vec![0.5, 0.5]]);
    check(rule, &x, &vec![vec![0.0, 0.0], vec![0.0, 0.0]]);
}

#[test]
fn one_row() {
    let rule = "a single row is a batch of one";
    check(rule, &vec![vec![1.0, -1.0]], &vec![vec![0.25, 0.0, 0.75]]);
}

#[test]
fn a_row_begins_with_zeros() {
    let rule = "a row begins with zeros: 0 + -0 is 0, and the first product alone would be -0";
    let (x, routing) = (vec![vec![1.0, 1.0]], vec![vec![0.5, 0.5]]);
    let case = Case::rule(rule)
        .given("x", &x)
        .given("routing", &routing)
        .given("each expert computes", [-0.0, 2.0]);
    let found = rows_by_expert(&x, &routing, &mut |_, rows| vec![vec![-0.0, 2.0]; rows.len()]);
    case.equal("[[0.0, 2.0]]".to_owned(), format!("{found:?}"));
}

#[test]
fn no_rows() {
    check("without rows there is nothing to compute", &vec![], &vec![]);
}

#[test]
fn equal_rows_stay_two_rows() {
    let rule = "two rows that are equal are two rows, and may have other weights";
    let x = vec![vec![1.0, 2.0]; 3];
    check(rule, &x, &vec![vec![0.5, 0.5], vec![0.9, 0.1], vec![0.5, 0.5]]);
}

#[test]
fn any_batch() {
    let mut random = Random::new(45);
    for _ in 0..300 {
        let (rows, experts) = (1 + random.below(7), 1 + random.below(6));
        let x: Rows = (0..rows).map(|_| random.scores(3)).collect();
        let mut routing = vec![vec![0.0; experts]; rows];
        for row in &mut routing {
            for _ in 0..1 + random.below(experts) {
                row[random.below(experts)] = random.float(0.01, 1.0);
            }
        }
        check("each row by its own experts", &x, &routing);
    }
}
