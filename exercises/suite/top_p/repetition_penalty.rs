use super::repetition_penalty::repetition_penalty;
use crate::support::{Case, Random};

fn check(
    rule: &str,
    scores: &[f32],
    penalty: f32,
    (prompt, output): (&[u32], &[u32]),
    expected: &[f32],
) {
    let case = Case::rule(rule)
        .given("scores", scores)
        .given("penalty", penalty)
        .given("prompt", prompt)
        .given("output", output);
    let mut found = scores.to_vec();
    repetition_penalty(&mut found, penalty, prompt, output);
    case.close(expected, &found, 1e-6);
}

#[test]
fn a_score_above_zero_is_divided() {
    let rule = "the score of a token that was said, above 0, is divided by the penalty";
    check(rule, &[3.0, 2.0, 1.0], 2.0, (&[], &[0, 2]), &[1.5, 2.0, 0.5]);
    check(rule, &[3.0, 2.0, 1.0], 1.25, (&[], &[1]), &[3.0, 1.6, 1.0]);
}

#[test]
fn a_score_below_zero_is_multiplied() {
    let rule = "the score of a token that was said, below 0, is multiplied: it must fall too";
    check(rule, &[-3.0, -2.0, -1.0], 2.0, (&[], &[0, 2]), &[-6.0, -2.0, -2.0]);
}

#[test]
fn a_score_of_zero_stays() {
    let case = Case::rule("a score of 0 is neither above nor below 0: it stays")
        .given("scores", [0.0, 1.0])
        .given("penalty", 2.0)
        .given("output", [0]);
    let mut found = vec![0.0, 1.0];
    repetition_penalty(&mut found, 2.0, &[], &[0]);
    case.equal(vec![0.0, 1.0], found);
}

#[test]
fn the_prompt_counts() {
    let rule = "a token of the prompt was said, as one of the output was";
    check(rule, &[3.0, 2.0, 1.0], 2.0, (&[1], &[]), &[3.0, 1.0, 1.0]);
    check(rule, &[3.0, 2.0, 1.0], 2.0, (&[1], &[0]), &[1.5, 1.0, 1.0]);
}

#[test]
fn once_for_each_token() {
    let rule = "a token is penalised once, however often it was said";
    check(rule, &[4.0, 2.0], 2.0, (&[], &[0, 0, 0]), &[2.0, 2.0]);
    check(rule, &[4.0, 2.0], 2.0, (&[0, 0], &[]), &[2.0, 2.0]);
    check(rule, &[4.0, -2.0], 2.0, (&[0, 1], &[1, 0, 1]), &[2.0, -4.0]);
}

#[test]
fn the_whole_text_counts() {
    let rule = "a token was said, however long ago";
    let long = vec![1; 2000];
    let longer = [&[0], long.as_slice()].concat();
    for (prompt, output) in [(&[0][..], &long), (&[][..], &longer)] {
        let case = Case::rule(rule)
            .given("scores", [4.0, 2.0, 1.0])
            .given("penalty", 2.0)
            .given(
                "prompt",
                format_args!("{} tokens, 0 among them: {}", prompt.len(), prompt.contains(&0)),
            )
            .given("output", "token 1 for 2000 times; token 0 before it if the prompt lacks it");
        let mut found = [4.0, 2.0, 1.0];
        repetition_penalty(&mut found, 2.0, prompt, output);
        case.close(&[2.0, 1.0, 1.0], &found, 1e-6);
    }
}

#[test]
fn a_penalty_may_be_great() {
    let rule = "the penalty is any number above 0: with one below 1, scores rise";
    check(rule, &[4.0, -2.0, 1.0], 100.0, (&[0], &[1]), &[0.04, -200.0, 1.0]);
    check(rule, &[4.0, -2.0, 1.0], 0.01, (&[0], &[1]), &[400.0, -0.02, 1.0]);
}

#[test]
fn ids_of_a_large_vocabulary() {
    for id in [64, 255, 256, 65_535, 65_536, 99_999] {
        let case = Case::rule("the token that was said is penalised, and no other")
            .given("scores", "100000 times 2")
            .given("penalty", 2.0)
            .given("prompt", [id]);
        let mut found = vec![2.0; 100_000];
        repetition_penalty(&mut found, 2.0, &[id], &[]);
        let changed: Vec<usize> = (0..found.len()).filter(|&id| found[id] != 2.0).collect();
        case.equal(("ids that changed", vec![id as usize]), ("ids that changed", changed));
        case.equal(1.0, found[id as usize]);
    }
}

#[test]
fn a_penalty_of_one_is_off() {
    let rule = "a penalty of 1 changes nothing";
    check(rule, &[4.0, -2.0, 0.0], 1.0, (&[0, 1], &[2]), &[4.0, -2.0, 0.0]);
}

#[test]
fn a_penalty_below_one_makes_scores_rise() {
    let rule = "below 1 the same rule makes what was said likelier";
    check(rule, &[4.0, -2.0, 1.0], 0.5, (&[0], &[1]), &[8.0, -1.0, 1.0]);
}

#[test]
fn zero_and_removed_tokens_stay() {
    let rule = "a score of 0 stays 0, and one of -inf stays -inf";
    let scores = [0.0, f32::NEG_INFINITY, 1.0];
    for penalty in [2.0, 1.0, 0.5] {
        check(rule, &scores, penalty, (&[0], &[1]), &scores);
    }
}

#[test]
fn nothing_was_said() {
    let rule = "if nothing was said, nothing changes";
    check(rule, &[3.0, -2.0], 2.0, (&[], &[]), &[3.0, -2.0]);
}

#[test]
fn what_was_said_never_rises() {
    let mut random = Random::new(9);
    for count in 1..40 {
        let scores = random.scores(count);
        let said: Vec<u32> = (0..count).map(|_| random.below(count) as u32).collect();
        let (prompt, output) = said.split_at(random.below(count));
        let penalty = random.float(1.0, 2.0);
        let expected: Vec<f32> = (0..count)
            .map(|id| {
                if said.contains(&(id as u32)) {
                    (scores[id] / penalty).min(scores[id] * penalty)
                } else {
                    scores[id]
                }
            })
            .collect();
        let rule = "above 1, the scores of all tokens that were said fall, and no others";
        check(rule, &scores, penalty, (prompt, output), &expected);
    }
}
