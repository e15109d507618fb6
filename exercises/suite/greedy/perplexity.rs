use super::perplexity::perplexity;
use crate::support::Case;

/// Rows of logarithms, from rows of probabilities.
fn logarithms<const V: usize>(probabilities: &[[f32; V]]) -> Vec<Vec<f32>> {
    probabilities.iter().map(|row| row.iter().map(|p| p.ln()).collect()).collect()
}

fn check<const V: usize>(rule: &str, ids: &[u32], probabilities: &[[f32; V]], expected: f64) {
    let case = Case::rule(rule).given("ids", ids).given("exp of the rows", probabilities);
    let found = perplexity(ids, &logarithms(probabilities));
    let near = |found: f64| found == expected || (found / expected - 1.0).abs() < 1e-3;
    case.holds(found.is_some_and(near), &format!("Some({expected})"), found);
}

#[test]
fn the_example() {
    let rule = "exp of the mean surprise, which is minus the mean logarithm; row i predicts the token after position i";
    check(
        rule,
        &[2, 1, 0],
        &[[0.25, 0.5, 0.25], [0.125, 0.5, 0.375], [0.75, 0.125, 0.125]],
        4.0,
    );
}

#[test]
fn equally_likely_tokens() {
    let rule = "a model that finds four tokens equally likely has the perplexity 4";
    check(rule, &[0, 3], &[[0.25; 4]; 2], 4.0);
    check(rule, &[1, 2, 3, 0, 0, 1], &[[0.25; 4]; 6], 4.0);
}

#[test]
fn a_certain_text() {
    let rule = "a text that was certain has the perplexity 1";
    check(rule, &[0, 1, 0], &[[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]], 1.0);
    let rule = "a certain token counts in the mean, with a surprise of 0";
    check(rule, &[0, 1, 0], &[[0.0, 1.0], [0.25, 0.75], [0.5, 0.5]], 2.0);
}

#[test]
fn the_first_token_and_the_last_row_do_not_count() {
    let rule = "no row predicts the first token, and the last row predicts none of them";
    for last in [[0.9, 0.1], [0.1, 0.9], [0.0, 1.0]] {
        check(rule, &[0, 1], &[[0.5, 0.5], last], 2.0);
        check(rule, &[1, 0, 0], &[[0.5, 0.5], [0.125, 0.875], last], 4.0);
    }
}

#[test]
fn a_mean_does_not_depend_on_the_length() {
    for length in [2, 10, 100] {
        check_long("the mean surprise is the same, however long the text is", length, 0.01);
    }
}

#[test]
fn a_long_text_is_an_ordinary_one() {
    let rule = "the perplexity is right even if the probability of the text is 0 in an f64";
    check_long(rule, 200, 0.01);
    check_long(rule, 5000, 0.01);
    check_long(rule, 5000, 0.99);
    check_long(rule, 3, 1e-30);
}

/// A text in which each token had the same probability.
fn check_long(rule: &str, length: u32, probability: f32) {
    let ids: Vec<u32> = (0..length).map(|i| i % 2).collect();
    let case = Case::rule(rule)
        .given("length of the text", length)
        .given("exp of each row", [probability; 2]);
    let expected = f64::from(probability).recip();
    let found = perplexity(&ids, &vec![vec![probability.ln(); 2]; ids.len()]);
    let near = found.is_some_and(|found| (found / expected - 1.0).abs() < 1e-3);
    case.holds(near, &format!("Some({expected}), or off by a thousandth of it"), found);
}

#[test]
fn a_token_that_could_not_come() {
    let rule = "a token of the probability 0 makes the perplexity infinite";
    check(rule, &[0, 1, 0], &[[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]], f64::INFINITY);
}

#[test]
fn a_token_that_could_not_come_in_a_long_text() {
    let case = Case::rule("one token of the probability 0 makes the perplexity infinite")
        .given("ids", "3000 times the token 0, and then the token 1")
        .given("each row, logarithms", [0.0, f32::NEG_INFINITY]);
    let ids = [[0; 3000].as_slice(), &[1]].concat();
    let rows = vec![vec![0.0, f32::NEG_INFINITY]; ids.len()];
    case.equal(Some(f64::INFINITY), perplexity(&ids, &rows));
}

#[test]
fn a_token_that_was_hardly_possible() {
    let rule = "a log-probability that is low is a number like others, even if its exponential \
                is 0 in an f64";
    for (surprise, expected) in [(200.0_f32, 6.253949e21), (800.0, 8.716188e86)] {
        let rows = vec![vec![-0.25, -surprise]; 5];
        let case = Case::rule(rule).given("ids", [0, 1, 0, 0, 0]).given("rows", &rows);
        let found = perplexity(&[0, 1, 0, 0, 0], &rows);
        let near = found.is_some_and(|found| (found / expected - 1.0_f64).abs() < 1e-3);
        case.holds(near, &format!("Some({expected:e}), or off by a thousandth of it"), found);
    }
}

#[test]
fn a_text_that_was_almost_certain() {
    check_long("a result may be off by a thousandth of itself, and no more", 9, 0.996);
}

#[test]
fn a_text_of_which_nothing_was_foretold() {
    let rule = "without a predicted token, there is no perplexity";
    let rows = logarithms(&[[0.5, 0.5]]);
    let case = Case::rule(rule).given("ids", [1]).given("exp of the rows", [[0.5, 0.5]]);
    case.equal(None, perplexity(&[1], &rows));
    let case = Case::rule(rule).given("ids", "none").given("rows", "none");
    case.equal(None, perplexity(&[], &[]));
}
