use std::iter;

use super::who_finished::{Reason, Sequence, take_step};
use crate::support::{Case, Random};

const EOS: u32 = 0;

fn sequence(name: char, output: &[u32], max_tokens: usize) -> Sequence {
    Sequence { name, output: output.to_vec(), max_tokens }
}

fn check(
    rule: &str,
    mut running: Vec<Sequence>,
    chosen: &[u32],
    left: &[Sequence],
    finished: &[(Sequence, Reason)],
) {
    let case =
        Case::rule(rule).given("running", &running).given("chosen", chosen).given("eos", EOS);
    let found = take_step(&mut running, chosen, EOS);
    case.equal(("still running", left.to_vec()), ("still running", running));
    case.equal(("finished", finished.to_vec()), ("finished", found));
}

#[test]
fn a_token_is_appended() {
    let running = vec![sequence('a', &[5], 3), sequence('b', &[], 9)];
    let left = [sequence('a', &[5, 8], 3), sequence('b', &[4], 9)];
    check("each sequence gets the token at its place", running, &[8, 4], &left, &[]);
}

#[test]
fn texts_of_the_same_name_are_two() {
    let running = vec![
        sequence('a', &[5], 3),
        sequence('a', &[6], 3),
        sequence('a', &[7], 2),
    ];
    let left = [sequence('a', &[5, 8], 3), sequence('a', &[6, 8], 3)];
    let finished = [(sequence('a', &[7, 8], 2), Reason::Length)];
    let rule = "each entry is a separate text with at most max_tokens tokens, whatever its name is";
    check(rule, running, &[8, 8, 8], &left, &finished);
}

#[test]
fn the_end_of_sequence_token_is_no_part_of_the_text() {
    for output in [vec![], vec![5, 6]] {
        let running = vec![sequence('a', &output, 9)];
        let finished = [(sequence('a', &output, 9), Reason::Eos)];
        check("eos ends the text and is not appended", running, &[EOS], &[], &finished);
    }
}

#[test]
fn any_id_may_be_the_end() {
    for eos in [7, u32::MAX] {
        let mut running = vec![
            sequence('d', &[5], 9),
            sequence('b', &[5, 0], 9),
            sequence('c', &[], 9),
            sequence('a', &[], 9),
        ];
        let greatest = u32::MAX - u32::from(eos == u32::MAX);
        let chosen = [0, eos, eos - 2, greatest];
        let case =
            Case::rule("only the token that is given as `eos` ends a text, and 0 is a token")
                .given("running", &running)
                .given("chosen", chosen)
                .given("eos", eos);
        let found = take_step(&mut running, &chosen, eos);
        let left = vec![
            sequence('d', &[5, 0], 9),
            sequence('c', &[eos - 2], 9),
            sequence('a', &[greatest], 9),
        ];
        case.equal(("still running", left), ("still running", running));
        let finished = vec![(sequence('b', &[5, 0], 9), Reason::Eos)];
        case.equal(("finished", finished), ("finished", found));
    }
}

#[test]
fn a_text_ends_with_its_last_token() {
    for (output, full) in [(vec![], vec![8]), (vec![5, 6], vec![5, 6, 8])] {
        let max_tokens = full.len();
        let running = vec![sequence('a', &output, max_tokens)];
        let finished = [(sequence('a', &full, max_tokens), Reason::Length)];
        check("with max_tokens tokens the text has ended", running, &[8], &[], &finished);
        let running = vec![sequence('a', &output, max_tokens + 1)];
        let left = [sequence('a', &full, max_tokens + 1)];
        check("with fewer than max_tokens tokens it goes on", running, &[8], &left, &[]);
    }
}

#[test]
fn an_end_at_the_last_place_is_an_end() {
    let running = vec![sequence('a', &[5, 6], 3)];
    let finished = [(sequence('a', &[5, 6], 3), Reason::Eos)];
    check(
        "eos when one more token was allowed is Reason::Eos",
        running,
        &[EOS],
        &[],
        &finished,
    );
}

#[test]
fn who_has_ended_is_returned_in_the_order_of_running() {
    let rule = "the ended sequences are returned in their old order, for whatever \
                reason they ended and whatever their names are";
    let names = ['d', 'a', 'c', 'b'];
    for chosen in [[EOS, 8, EOS, 8], [8, EOS, 8, EOS], [8, 8, EOS, EOS]] {
        let running = names.map(|name| sequence(name, &[5], 2)).to_vec();
        let ended = |(name, token)| match token {
            EOS => (sequence(name, &[5], 2), Reason::Eos),
            _ => (sequence(name, &[5, token], 2), Reason::Length),
        };
        let finished: Vec<_> = names.into_iter().zip(chosen).map(ended).collect();
        check(rule, running, &chosen, &[], &finished);
    }
}

#[test]
fn who_goes_on_keeps_its_text() {
    let rule = "a text has what it had, and one token more";
    let long: Vec<u32> = (1..40).collect();
    let running = vec![sequence('b', &long, 99), sequence('a', &long, 99)];
    let longer = [long.as_slice(), &[8]].concat();
    let finished = [(sequence('a', &long, 99), Reason::Eos)];
    check(rule, running, &[8, EOS], &[sequence('b', &longer, 99)], &finished);
    check(rule, vec![sequence('a', &[5], 9)], &[5], &[sequence('a', &[5, 5], 9)], &[]);
}

#[test]
fn the_others_keep_their_places_and_their_tokens() {
    let running = vec![
        sequence('a', &[5], 3),
        sequence('b', &[6], 2),
        sequence('c', &[], 9),
        sequence('d', &[7, 7], 9),
    ];
    let left = [sequence('a', &[5, 8], 3), sequence('d', &[7, 7, 4], 9)];
    let finished = [
        (sequence('b', &[6, 8], 2), Reason::Length),
        (sequence('c', &[], 9), Reason::Eos),
    ];
    let rule = "a sequence that leaves changes neither the order nor the tokens of the others";
    check(rule, running, &[8, 8, EOS, 4], &left, &finished);

    let running = "abcd".chars().map(|name| sequence(name, &[], 9)).collect();
    let left: Vec<_> = "bcd".chars().zip(2..).map(|(name, id)| sequence(name, &[id], 9)).collect();
    let finished = [(sequence('a', &[], 9), Reason::Eos)];
    check(rule, running, &[EOS, 2, 3, 4], &left, &finished);
}

#[test]
fn all_may_end_at_once() {
    let running: Vec<_> = "abc".chars().map(|name| sequence(name, &[5], 2)).collect();
    let finished = [
        (sequence('a', &[5, 8], 2), Reason::Length),
        (sequence('b', &[5], 2), Reason::Eos),
        (sequence('c', &[5, 9], 2), Reason::Length),
    ];
    check("a batch may be empty after a step", running, &[8, EOS, 9], &[], &finished);
}

/// The tokens that the model will choose for a text, one a step, forever.
fn script(name: char) -> impl FnMut() -> u32 {
    let mut random = Random::new(u64::from(u32::from(name)));
    move || random.below(6) as u32
}

#[test]
fn step_by_step_each_text_is_what_it_is_alone() {
    for count in 1..=6 {
        let names: Vec<char> = "abcdef".chars().take(count).collect();
        let limit = |name: char| 2 + u32::from(name) as usize % 4;
        let texts: Vec<(char, usize, Vec<u32>)> = names
            .iter()
            .map(|&name| {
                let tokens = iter::repeat_with(script(name)).take(limit(name)).collect();
                (name, limit(name), tokens)
            })
            .collect();
        let case =
            Case::rule("each text is what it would be alone, and finished rows cost nothing")
                .given("names, max_tokens, and what the model chooses for each", &texts)
                .given("eos", EOS);
        let mut expected = Vec::new();
        let mut expected_rows = 0;
        for &name in &names {
            let mut next = script(name);
            let mut output = Vec::new();
            let reason = loop {
                expected_rows += 1;
                let token = next();
                if token == EOS {
                    break Reason::Eos;
                }
                output.push(token);
                if output.len() == limit(name) {
                    break Reason::Length;
                }
            };
            expected.push((Sequence { name, output, max_tokens: limit(name) }, reason));
        }

        let mut scripts: Vec<_> = names.iter().map(|&name| (name, script(name))).collect();
        let mut running: Vec<_> =
            names.iter().map(|&name| sequence(name, &[], limit(name))).collect();
        let mut found = Vec::new();
        let mut rows = 0;
        for _ in 0..10 {
            rows += running.len();
            let mut next = |name: char| {
                let (_, next) = scripts.iter_mut().find(|script| script.0 == name).expect("named");
                next()
            };
            let chosen: Vec<u32> = running.iter().map(|sequence| next(sequence.name)).collect();
            found.extend(take_step(&mut running, &chosen, EOS));
        }
        found.sort_by_key(|(sequence, _)| sequence.name);
        case.equal(("finished", expected), ("finished", found));
        case.equal(("rows computed in all", expected_rows), ("rows computed in all", rows));
    }
}
