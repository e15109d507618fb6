use super::starved::{Sequence, step};
use crate::support::{Case, Random};

/// (name, unread, remaining)
type Short = (char, usize, usize);

fn sequences(short: &[Short]) -> Vec<Sequence> {
    let sequence = |&(name, unread, remaining): &Short| Sequence { name, unread, remaining };
    short.iter().map(sequence).collect()
}

fn short(sequences: &[Sequence]) -> Vec<Short> {
    let short = |sequence: &Sequence| (sequence.name, sequence.unread, sequence.remaining);
    sequences.iter().map(short).collect()
}

fn case(rule: &str, token_budget: usize, running: &[Short]) -> Case {
    Case::rule(rule)
        .given("token_budget", token_budget)
        .given("running: (name, unread, remaining)", running)
}

/// One step. `expected`: who got a token, and who runs after it.
fn check(rule: &str, token_budget: usize, running: &[Short], expected: (&str, &[Short])) {
    let case = case(&format!("{rule}: (which got a token, which run)"), token_budget, running);
    let mut sequences = sequences(running);
    let got: String = step(&mut sequences, token_budget).into_iter().collect();
    case.equal((expected.0.to_owned(), expected.1.to_vec()), (got, short(&sequences)));
}

#[test]
fn the_example_of_the_task() {
    let rule = "the example above the function: a token at each step for all that decode, and the rest of the budget for the prompt";
    check(rule, 4, &[('A', 0, 3), ('B', 9, 1)], ("A", &[('A', 0, 2), ('B', 6, 1)]));
    check(rule, 4, &[('A', 0, 2), ('B', 6, 1)], ("A", &[('A', 0, 1), ('B', 3, 1)]));
    check(rule, 4, &[('A', 0, 1), ('B', 3, 1)], ("AB", &[]));
}

#[test]
fn a_long_prompt_holds_up_nobody() {
    let rule = "a token at each step for all that decode, whether they came before it or after it";
    for running in [
        vec![('A', 0, 30), ('B', 0, 30), ('C', 40, 2)],
        vec![('C', 40, 2), ('A', 0, 30), ('B', 0, 30)],
        vec![('A', 0, 30), ('C', 40, 2), ('B', 0, 30)],
    ] {
        let case = case(&format!("{rule}: which got a token"), 8, &running);
        let mut sequences = sequences(&running);
        for count in 1..=6 {
            let got: String = step(&mut sequences, 8).into_iter().collect();
            case.equal((format!("step {count}"), "AB".to_owned()), (format!("step {count}"), got));
        }
    }
}

#[test]
fn more_may_decode_than_the_budget_has_tokens() {
    let rule = "a sequence that decodes gets a token, however small the budget is";
    let running = [('A', 0, 2), ('B', 0, 2), ('C', 0, 2)];
    check(rule, 1, &running, ("ABC", &[('A', 0, 1), ('B', 0, 1), ('C', 0, 1)]));
    let running = [('P', 9, 1), ('A', 0, 2), ('B', 0, 2), ('C', 0, 2)];
    let after = [('P', 8, 1), ('A', 0, 1), ('B', 0, 1), ('C', 0, 1)];
    check(rule, 2, &running, ("ABC", &after));
}

#[test]
fn a_prompt_goes_on_at_each_step() {
    let rule = "if nothing is left, the first prompt reads one token, and the others none";
    let running = [('A', 0, 9), ('B', 0, 9), ('P', 5, 1), ('Q', 5, 1)];
    let after = [('A', 0, 8), ('B', 0, 8), ('P', 4, 1), ('Q', 5, 1)];
    check(rule, 2, &running, ("AB", &after));
    let rule = "if one token is left, that is the one";
    check(rule, 3, &running, ("AB", &after));
    let rule = "that token may be the last of the prompt";
    check(rule, 1, &[('A', 0, 9), ('P', 1, 2)], ("AP", &[('A', 0, 8), ('P', 0, 1)]));
}

#[test]
fn prompts_take_what_is_left() {
    let rule = "prompts take all that the decodes leave, first come, first served";
    let running = [('A', 0, 9), ('P', 5, 1), ('Q', 9, 1)];
    check(rule, 10, &running, ("AP", &[('A', 0, 8), ('Q', 5, 1)]));
    check(rule, 5, &running, ("A", &[('A', 0, 8), ('P', 1, 1), ('Q', 9, 1)]));
    check(rule, 99, &running, ("APQ", &[('A', 0, 8)]));
    let rule = "if none decodes, prompts take the whole budget";
    check(rule, 8, &[('P', 20, 1)], ("", &[('P', 12, 1)]));
    check(rule, 8, &[('P', 8, 2)], ("P", &[('P', 0, 1)]));
    check(rule, 8, &[], ("", &[]));
}

#[test]
fn the_step_that_ends_a_prompt_gives_its_first_token_and_no_more() {
    let rule = "one token at a step, even if budget is left";
    check(rule, 9, &[('P', 3, 2)], ("P", &[('P', 0, 1)]));
    check(rule, 9, &[('A', 0, 2)], ("A", &[('A', 0, 1)]));
    let rule = "a sequence with all its tokens leaves, and the others keep their order";
    let running = [('A', 0, 1), ('B', 0, 2), ('C', 1, 1), ('D', 0, 3)];
    check(rule, 9, &running, ("ABCD", &[('B', 0, 1), ('D', 0, 2)]));
}

#[test]
fn the_first_prompt_comes_first() {
    let rule = "first come, first served: not the shorter prompt, and not the one that fits";
    check(rule, 4, &[('P', 9, 1), ('Q', 3, 1)], ("", &[('P', 5, 1), ('Q', 3, 1)]));
    let running = [('P', 9, 1), ('A', 0, 9), ('Q', 3, 1)];
    check(rule, 4, &running, ("A", &[('P', 6, 1), ('A', 0, 8), ('Q', 3, 1)]));
    check(rule, 11, &running, ("PA", &[('A', 0, 8), ('Q', 2, 1)]));
    let rule = "the longer prompt has no right of way either";
    check(rule, 4, &[('Q', 3, 1), ('P', 9, 1)], ("Q", &[('P', 8, 1)]));
}

#[test]
fn a_budget_may_be_far_greater_than_is_needed() {
    let rule = "the budget is a limit, and no number of tokens that have to be computed";
    let running = [('P', 5_000_000, 2), ('A', 0, 7)];
    check(rule, 1_000_000_000, &running, ("PA", &[('P', 0, 1), ('A', 0, 6)]));
}

#[test]
fn every_step_keeps_its_promises() {
    let mut random = Random::new(9);
    for round in 0..30 {
        let token_budget = 1 + random.below(8);
        let running: Vec<Short> = ('A'..='F')
            .map(|name| (name, random.below(2) * random.below(30), 1 + random.below(6)))
            .collect();
        let mut sequences = sequences(&running);
        for count in 0..200 {
            let before = short(&sequences);
            let case = case("each step keeps its promises", token_budget, &before)
                .given("step", count)
                .given("round", round);
            let decoding: String = before.iter().filter(|s| s.1 == 0).map(|s| s.0).collect();
            let got: String = step(&mut sequences, token_budget).into_iter().collect();
            let served = decoding.chars().all(|name| got.contains(name));
            case.holds(served, &format!("a token for all of {decoding:?}"), &got);
            let left = token_budget.saturating_sub(decoding.len()).max(1);
            let unread = |all: &[Short]| all.iter().map(|s| s.1).sum::<usize>();
            let (before, after) = (unread(&before), unread(&short(&sequences)));
            let wanted = format!("{} tokens of prompts read", before.min(left));
            case.holds(before - after == before.min(left), &wanted, before - after);
        }
        let case =
            case("in the end all have their tokens: which still run", token_budget, &running);
        case.equal(Vec::new(), short(&sequences));
    }
}
