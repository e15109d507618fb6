use super::where_it_ends::NextTokens::{self, Choose, End, Stuck};
use super::where_it_ends::where_it_ends;
use crate::support::Case;

fn check(rule: &str, continuing: &[u32], accepts: bool, eos: &[u32], expected: NextTokens) {
    let case = Case::rule(rule)
        .given("continuing", continuing)
        .given("accepts", accepts)
        .given("eos", eos);
    case.equal(expected, where_it_ends(continuing, accepts, eos));
}

#[test]
fn the_example_of_the_task() {
    let rule = "the example above the function: end tokens join the others in the order of ids if the text matches; without any token it is the end, or stuck";
    check(rule, &[4, 7], true, &[5], Choose(vec![4, 5, 7]));
    check(rule, &[4, 7], false, &[5], Choose(vec![4, 7]));
    check(rule, &[], true, &[5], End);
    check(rule, &[], false, &[5], Stuck);
}

#[test]
fn the_end_is_a_choice_where_the_text_matches_and_could_go_on() {
    let rule = "all end-of-sequence tokens are allowed, in the order of the ids";
    check(rule, &[3, 9], true, &[8, 1], Choose(vec![1, 3, 8, 9]));
    check(rule, &[3], true, &[0, 100, 50], Choose(vec![0, 3, 50, 100]));
    let rule = "a model may have no end-of-sequence token: it goes on";
    check(rule, &[3, 9], true, &[], Choose(vec![3, 9]));
    let rule = "a text that does not match must go on";
    check(rule, &[3], false, &[8, 1], Choose(vec![3]));
    check(rule, &[3, 9], false, &[], Choose(vec![3, 9]));
}

#[test]
fn a_text_that_cannot_go_on_has_ended_or_is_stuck() {
    let rule = "a complete text ends, also without an end-of-sequence token";
    check(rule, &[], true, &[], End);
    check(rule, &[], true, &[1, 2], End);
    let rule = "a text that neither matches nor goes on is stuck";
    check(rule, &[], false, &[], Stuck);
    check(rule, &[], false, &[1, 2], Stuck);
}
