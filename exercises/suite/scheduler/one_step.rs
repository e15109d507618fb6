use std::fmt::{Debug, Formatter};

use super::one_step::{BLOCK_SIZE, Limits, Sequence, Work, plan};
use crate::support::{Case, Random};

/// (name, prompt, computed)
type Short = (char, usize, usize);

fn sequences(short: &[Short]) -> Vec<Sequence> {
    let sequence = |&(name, prompt, computed): &Short| Sequence { name, prompt, computed };
    short.iter().map(sequence).collect()
}

/// A plan as in the task: `A 1 logits, B 4`.
#[derive(PartialEq)]
struct Plan(String);

impl Debug for Plan {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(if self.0.is_empty() {
            "nothing"
        } else {
            &self.0
        })
    }
}

fn shown(work: &[Work]) -> Plan {
    let shown = work.iter().map(|Work { name, tokens, wants_logits }| {
        format!("{name} {tokens}{}", if *wants_logits { " logits" } else { "" })
    });
    Plan(shown.collect::<Vec<_>>().join(", "))
}

fn case(
    rule: &str,
    (token_budget, max_running, free_blocks): (usize, usize, usize),
    running: &[Short],
    waiting: &[Short],
) -> Case {
    Case::rule(rule)
        .given("token_budget", token_budget)
        .given("max_running", max_running)
        .given("free_blocks, of 4 positions", free_blocks)
        .given("running: (name, prompt, computed)", running)
        .given("waiting", waiting)
}

fn run(
    (token_budget, max_running, free_blocks): (usize, usize, usize),
    running: &[Short],
    waiting: &[Short],
) -> Vec<Work> {
    let limits = Limits { token_budget, max_running, free_blocks };
    plan(&sequences(running), &sequences(waiting), limits)
}

fn check(
    rule: &str,
    limits: (usize, usize, usize),
    (running, waiting): (&[Short], &[Short]),
    expected: &str,
) {
    let case = case(rule, limits, running, waiting);
    case.equal(Plan(expected.to_owned()), shown(&run(limits, running, waiting)));
}

#[test]
fn the_example_of_the_task() {
    let running = [('A', 5, 7), ('B', 12, 8), ('C', 3, 3)];
    let waiting = [('D', 9, 0), ('E', 2, 0)];
    let expected = "A 1 logits, C 1 logits, B 4 logits, D 4";
    check(
        "the example above the function: decodes first, then prompts in order, then admission while a place, a token and enough blocks are left",
        (10, 4, 5),
        (&running, &waiting),
        expected,
    );
}

#[test]
fn every_running_sequence_that_decodes_gets_its_token() {
    let rule = "a sequence decodes once its whole prompt is computed: one token, with logits";
    let running = [('A', 3, 9), ('B', 3, 3)];
    check(rule, (8, 2, 0), (&running, &[]), "A 1 logits, B 1 logits");
    let rule = "decodes may take more than the budget";
    let running = [('A', 1, 1), ('B', 1, 2), ('C', 1, 3)];
    check(rule, (2, 3, 0), (&running, &[]), "A 1 logits, B 1 logits, C 1 logits");
    let running: Vec<Short> = ('A'..='L').map(|name| (name, 1, 1)).collect();
    let expected: Vec<String> = ('A'..='L').map(|name| format!("{name} 1 logits")).collect();
    check("however many decode", (2, 12, 0), (&running, &[]), &expected.join(", "));
    let rule = "decodes come first, whichever arrived first";
    let running = [('A', 9, 0), ('B', 3, 3)];
    check(rule, (4, 2, 0), (&running, &[]), "B 1 logits, A 3");
    check("no sequence is there", (8, 2, 9), (&[], &[]), "");
}

#[test]
fn prompts_share_what_is_left() {
    let rule = "first come, first served: each takes as much as it has use for";
    let running = [('A', 5, 2), ('B', 9, 4), ('C', 4, 0)];
    check(rule, (10, 3, 0), (&running, &[]), "A 3 logits, B 5 logits, C 2");
    check(rule, (6, 3, 0), (&running, &[]), "A 3 logits, B 3");
    check(rule, (3, 3, 0), (&running, &[]), "A 3 logits");
    check(rule, (2, 3, 0), (&running, &[]), "A 2");
    let rule = "logits are wanted only for the last token of a prompt";
    check(rule, (8, 1, 0), (&[('A', 9, 0)], &[]), "A 8");
    check(rule, (8, 1, 0), (&[('A', 9, 8)], &[]), "A 1 logits");
}

#[test]
fn a_prompt_goes_on_by_one_token_at_least() {
    let rule = "if the decodes leave nothing, the first prompt computes one token, and no other";
    let running = [('A', 1, 1), ('B', 9, 2), ('C', 1, 1), ('D', 9, 2)];
    check(rule, (2, 4, 0), (&running, &[]), "A 1 logits, C 1 logits, B 1");
    check(rule, (1, 4, 0), (&running, &[]), "A 1 logits, C 1 logits, B 1");
    let rule = "if they leave one token, that is it";
    check(rule, (3, 4, 0), (&running, &[]), "A 1 logits, C 1 logits, B 1");
    let rule = "that token may be the last of the prompt";
    check(rule, (1, 4, 0), (&[('A', 1, 1), ('B', 3, 2)], &[]), "A 1 logits, B 1 logits");
}

#[test]
fn who_waits_gets_what_is_left() {
    let rule = "a sequence that joins takes a chunk out of what is left";
    let waiting = [('B', 9, 0), ('C', 2, 0)];
    check(rule, (6, 4, 9), (&[('A', 1, 1)], &waiting), "A 1 logits, B 5");
    check(
        rule,
        (12, 4, 9),
        (&[('A', 1, 1)], &waiting),
        "A 1 logits, B 9 logits, C 2 logits",
    );
    check(rule, (11, 4, 9), (&[('A', 1, 1)], &waiting), "A 1 logits, B 9 logits, C 1");
    let rule = "if the prompts take all that is left, none joins";
    check(rule, (3, 4, 9), (&[('A', 9, 3)], &waiting), "A 3");
    check(rule, (1, 4, 9), (&[('A', 1, 1), ('D', 3, 1)], &waiting), "A 1 logits, D 1");
    let rule = "if the decodes leave nothing and no prompt is read, the one token is for the first that joins";
    check(rule, (1, 4, 9), (&[('A', 1, 1)], &waiting), "A 1 logits, B 1");
    check(
        rule,
        (1, 4, 9),
        (&[('A', 1, 1), ('D', 1, 1)], &waiting),
        "A 1 logits, D 1 logits, B 1",
    );
}

#[test]
fn no_more_run_than_may() {
    let rule = "a sequence that joins runs too: no more than max_running do";
    let waiting = [('B', 1, 0), ('C', 1, 0), ('D', 1, 0)];
    check(rule, (9, 1, 9), (&[('A', 1, 1)], &waiting), "A 1 logits");
    check(rule, (9, 2, 9), (&[('A', 1, 1)], &waiting), "A 1 logits, B 1 logits");
    check(rule, (9, 3, 9), (&[], &waiting), "B 1 logits, C 1 logits, D 1 logits");
    let rule = "none joins if more than max_running run";
    let running = [('A', 1, 1), ('E', 1, 1)];
    check(rule, (9, 1, 9), (&running, &waiting), "A 1 logits, E 1 logits");
    check("if none may run, none joins", (9, 0, 9), (&[], &waiting), "");
    let rule = "a running sequence counts, even if it gets no token at this step";
    let running = [('A', 9, 0), ('E', 9, 0)];
    check(rule, (9, 3, 9), (&running, &waiting), "A 9 logits");
    check(rule, (20, 3, 9), (&running, &waiting), "A 9 logits, E 9 logits, B 1 logits");
}

#[test]
fn who_joins_takes_blocks_for_its_whole_prompt() {
    let rule = "the whole prompt needs its blocks, also the part that is not read yet";
    check(rule, (3, 4, 2), (&[], &[('A', 9, 0)]), "");
    check(rule, (3, 4, 3), (&[], &[('A', 9, 0)]), "A 3");
    let rule = "a block that is filled in part is a whole block";
    check(rule, (9, 4, 1), (&[], &[('A', 5, 0)]), "");
    check(rule, (9, 4, 1), (&[], &[('A', 4, 0)]), "A 4 logits");
    let rule = "the blocks that one has taken are not there for the next";
    let waiting = [('A', 4, 0), ('B', 5, 0), ('C', 1, 0)];
    check(rule, (20, 4, 2), (&[], &waiting), "A 4 logits");
    check(rule, (20, 4, 3), (&[], &waiting), "A 4 logits, B 5 logits");
    check(rule, (20, 4, 4), (&[], &waiting), "A 4 logits, B 5 logits, C 1 logits");
    let rule = "running sequences have their blocks already";
    check(rule, (9, 4, 0), (&[('A', 5, 0), ('B', 1, 4)], &[]), "B 1 logits, A 5 logits");
    check(rule, (20, 4, 1), (&[('A', 5, 2)], &[('B', 4, 0)]), "A 3 logits, B 4 logits");
}

#[test]
fn nobody_overtakes() {
    let rule = "if the first can't join, the sequences behind it wait too";
    let waiting = [('B', 9, 0), ('C', 1, 0)];
    check(rule, (9, 4, 1), (&[('A', 1, 1)], &waiting), "A 1 logits");
    let waiting = [('B', 1, 0), ('C', 9, 0), ('D', 1, 0)];
    check(rule, (9, 4, 2), (&[], &waiting), "B 1 logits");
    let rule = "the order of arrival decides, not the length of a prompt";
    let waiting = [('B', 8, 0), ('C', 1, 0), ('D', 4, 0)];
    check(rule, (8, 4, 9), (&[], &waiting), "B 8 logits");
}

#[test]
fn limits_may_be_far_greater_than_is_needed() {
    let rule = "a limit that is never reached changes nothing";
    let most = 1_000_000_000;
    let limits = (most, most, most);
    let waiting = [('B', most, 0), ('C', 9, 0)];
    check(rule, limits, (&[], &waiting), &format!("B {most} logits"));
    let expected = format!("A 1 logits, B {}", most - 1);
    check(rule, limits, (&[('A', 1, most)], &waiting), &expected);
}

#[test]
fn all_prompts_are_read_in_the_end() {
    let mut random = Random::new(9);
    for round in 0..30 {
        let limits = (1 + random.below(6), 1 + random.below(4), 6);
        let prompts: Vec<Short> = ('A'..='J').map(|name| (name, 1 + random.below(12), 0)).collect();
        let given = case(
            "each step is planned by the rules, until all have 3 tokens",
            limits,
            &[],
            &prompts,
        )
        .given("round", round);
        let (mut running, mut waiting) = (Vec::<Short>::new(), prompts.clone());
        for step in 0.. {
            given.holds(step < 400, "all prompts read within 400 steps", (&running, &waiting));
            if running.is_empty() && waiting.is_empty() {
                break;
            }
            let held: usize = running.iter().map(|s| s.1.div_ceil(BLOCK_SIZE)).sum();
            let limits = (limits.0, limits.1, limits.2.saturating_sub(held));
            let case = case("each step is planned by the rules", limits, &running, &waiting);
            let work = run(limits, &running, &waiting);
            let decoding = running.iter().filter(|s| s.2 >= s.1).count();
            let total: usize = work.iter().map(|work| work.tokens).sum();
            let most = limits.0.max(decoding + 1);
            case.holds(total <= most && total > 0, &format!("1 to {most} tokens"), shown(&work));
            for Work { name, tokens, .. } in &work {
                if let Some(at) = waiting.iter().position(|s| s.0 == *name) {
                    case.equal(("next to join", waiting[0].0), ("next to join", waiting[at].0));
                    running.push(waiting.remove(at));
                }
                let known = running.iter_mut().find(|s| s.0 == *name);
                case.holds(known.is_some(), "names that run or wait", name);
                if let Some(sequence) = known {
                    sequence.2 += tokens;
                }
            }
            case.holds(running.len() <= limits.1, "no more than max_running", running.len());
            running.retain(|s| s.2 < s.1 + 3);
        }
    }
}
