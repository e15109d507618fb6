use super::accept_guesses::{Checked, accept_guesses};
use crate::support::{Case, Random};

fn check(rule: &str, guesses: &[u32], sampled: &[u32], gained: &[u32], kept_rows: usize) {
    let case = Case::rule(rule).given("guesses", guesses).given("sampled", sampled);
    case.equal(Checked { gained: gained.to_vec(), kept_rows }, accept_guesses(guesses, sampled));
}

#[test]
fn the_example_of_the_task() {
    let rule = "the example above the function: guesses up to the first that differs from the sampled token, then one token more, which has no row yet";
    check(rule, &[8, 3, 5], &[8, 3, 6, 1], &[8, 3, 6], 3);
    check(rule, &[8, 3, 5], &[8, 3, 5, 1], &[8, 3, 5, 1], 4);
}

#[test]
fn where_all_are_accepted_there_is_a_bonus_token() {
    let rule = "if all guesses are accepted, the token of the last row is gained too";
    check(rule, &[4], &[4, 9], &[4, 9], 2);
    check(rule, &[4, 4, 4], &[4, 4, 4, 4], &[4, 4, 4, 4], 4);
}

#[test]
fn the_first_rejected_guess_is_replaced() {
    let rule = "in place of the first guess that is not accepted, the token that was sampled";
    check(rule, &[4], &[5, 9], &[5], 1);
    check(rule, &[4, 7], &[4, 8, 9], &[4, 8], 2);
    let rule = "the replacement may be what a later guess was";
    check(rule, &[4, 7, 8], &[7, 8, 9, 9], &[7], 1);
}

#[test]
fn what_follows_a_rejected_guess_means_nothing() {
    let rule = "a guess behind one that is not accepted is not accepted, even if it agrees";
    check(rule, &[4, 7, 8], &[5, 7, 8, 1], &[5], 1);
    check(rule, &[4, 7, 8, 2], &[4, 6, 8, 2, 1], &[4, 6], 2);
}

#[test]
fn without_guesses_it_is_a_plain_step() {
    let rule = "without guesses, one token is gained, and the row of the text's last token is kept";
    check(rule, &[], &[3], &[3], 1);
}

#[test]
fn any_run() {
    let mut random = Random::new(29);
    for _ in 0..500 {
        let count = random.below(8);
        let guesses: Vec<u32> = (0..count).map(|_| random.below(3) as u32).collect();
        let sampled: Vec<u32> = guesses
            .iter()
            .map(|&guess| {
                if random.below(4) == 0 {
                    random.below(3) as u32
                } else {
                    guess
                }
            })
            .chain([9])
            .collect();
        let case =
            Case::rule("the accepted guesses and one token more; a row for each of the first")
                .given("guesses", &guesses)
                .given("sampled", &sampled);
        let Checked { gained, kept_rows } = accept_guesses(&guesses, &sampled);
        case.holds(
            !gained.is_empty() && sampled.starts_with(&gained),
            "the first of the sampled tokens, and at least one",
            &gained,
        );
        let accepted = gained.len() - 1;
        case.holds(
            guesses.starts_with(&gained[..accepted]),
            "all but the last are guesses",
            &gained,
        );
        let replaced = guesses.get(accepted) != Some(&gained[accepted]);
        case.holds(replaced, "the last token is the first that is not as guessed", &gained);
        case.equal(("kept rows", accepted + 1), ("kept rows", kept_rows));
    }
}

#[test]
fn long_runs_and_great_ids() {
    let guesses: Vec<u32> = (0..40).map(|i| 1000 * i).collect();
    let sampled: Vec<u32> = (0..41).map(|i| 1000 * i).collect();
    check("however many guesses are accepted", &guesses, &sampled, &sampled, 41);
    check("an id is a number like any other", &[257, 5], &[1, 5, 6], &[1], 1);
    check("an id is a number like any other", &[65_537, 5], &[1, 5, 6], &[1], 1);
}
