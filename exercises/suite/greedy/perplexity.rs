use super::perplexity::perplexity;
use crate::support::Case;

/// Rows of logarithms, from rows of probabilities.
fn logarithms<const V: usize>(probabilities: &[[f32; V]]) -> Vec<Vec<f32>> {
    probabilities.iter().map(|row| row.iter().map(|p| p.ln()).collect()).collect()
}

fn check<const V: usize>(rule: &str, ids: &[u32], probabilities: &[[f32; V]], expected: f64) {
    let case = Case::rule(rule).given("ids", ids).given("exp of the rows", probabilities);
    let found = perplexity(ids, &logarithms(probabilities));
    let near = |found: f64| found == expected || (found / expected - 1.0).abs() < 1e-5;
    case.holds(found.is_some_and(near), &format!("Some({expected})"), found);
}

#[test]
fn the_example() {
    let rule = "exp of the mean surprise, where row i speaks of the token after position i";
    check(
        rule,
        &[2, 1, 0],
        &[[0.25, 0.5, 0.25], [0.125, 0.5, 0.375], [0.75, 0.125, 0.125]],
        4.0,
    );
}

#[test]
fn equally_likely_tokens() {
    let rule = "among four equally likely tokens, one is as unsure as among four";
    check(rule, &[0, 3], &[[0.25; 4]; 2], 4.0);
    check(rule, &[1, 2, 3, 0, 0, 1], &[[0.25; 4]; 6], 4.0);
}

#[test]
fn a_certain_text() {
    let rule = "a text that was certain has the perplexity 1";
    check(rule, &[0, 1, 0], &[[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]], 1.0);
}

#[test]
fn the_first_token_and_the_last_row_do_not_count() {
    let rule = "nothing foretold the first token, and the last row speaks of none of them";
    for last in [[0.9, 0.1], [0.1, 0.9], [0.0, 1.0]] {
        check(rule, &[0, 1], &[[0.5, 0.5], last], 2.0);
        check(rule, &[1, 0, 0], &[[0.5, 0.5], [0.125, 0.875], last], 4.0);
    }
}

#[test]
fn a_long_text_is_no_less_sure() {
    let rule = "the mean does not depend on the length, and no product of many factors is 0";
    for length in [10, 100, 5000] {
        let ids: Vec<u32> = (0..length).map(|i| i % 2).collect();
        let case = Case::rule(rule)
            .given("length of the text", length)
            .given("exp of each row", [0.01, 0.01]);
        let row = vec![0.01_f32.ln(); 2];
        let found = perplexity(&ids, &vec![row; ids.len()]);
        let near = found.is_some_and(|found| (found - 100.0).abs() < 0.01);
        case.holds(near, "Some(100.0)", found);
    }
}

#[test]
fn a_token_that_could_not_come() {
    let rule = "a token of the probability 0 makes the perplexity infinite";
    check(rule, &[0, 1, 0], &[[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]], f64::INFINITY);
}

#[test]
fn a_text_of_which_nothing_was_foretold() {
    let rule = "without a token that was foretold, there is no perplexity";
    let rows = logarithms(&[[0.5, 0.5]]);
    let case = Case::rule(rule).given("ids", [1]).given("exp of the rows", [[0.5, 0.5]]);
    case.equal(None, perplexity(&[1], &rows));
    let case = Case::rule(rule).given("ids", "none").given("rows", "none");
    case.equal(None, perplexity(&[], &[]));
}
