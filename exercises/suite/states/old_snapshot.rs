use super::old_snapshot::{Text, next_state};
use crate::support::{Case, Random};

/// What happens to a text.
#[derive(Debug, Clone)]
enum Call {
    Append(Vec<u32>),
    Truncate(usize),
}
use Call::{Append, Truncate};

/// Makes the calls, and looks after each at the state and at what was read.
#[track_caller]
fn check(rule: &str, block: usize, calls: &[Call]) {
    let case = Case::rule(rule).given("block", block).given("calls", calls);
    let mut text = Text::new(block);
    let mut tokens: Vec<u32> = Vec::new();
    for (i, call) in calls.iter().enumerate() {
        case.step(format!("call {i}: {call:?}"));
        let (before, most) = match call {
            Append(new) => {
                tokens.extend(new);
                let before = text.read();
                text.append(new);
                (before, new.len())
            }
            Truncate(length) => {
                tokens.truncate(*length);
                let before = text.read();
                text.truncate(*length);
                (before, block - 1)
            }
        };
        let expected = tokens.iter().fold(0, |state, &token| next_state(state, token));
        let words = format!("the state after {tokens:?}");
        case.told(text.state() == expected, &words, "another state");
        let read = text.read() - before;
        case.holds(read <= most, &format!("at most {most} tokens are read by this call"), read);
    }
}

#[test]
fn a_text_that_only_grows() {
    let rule = "the state is that after all tokens, in pieces of any length";
    check(
        rule,
        4,
        &[
            Append(vec![1, 2, 3]),
            Append(vec![4]),
            Append(vec![5, 6, 7, 8, 9]),
        ],
    );
}

#[test]
fn before_the_first_block() {
    let rule = "before the end of the first block there is no copy: all is read again, from 0";
    check(rule, 4, &[Append(vec![1, 2, 3]), Truncate(2), Append(vec![5])]);
    check(rule, 4, &[Append(vec![1, 2, 3, 4]), Truncate(0), Append(vec![5])]);
}

#[test]
fn a_copy_is_of_the_end_of_a_block() {
    let rule =
        "a copy is the state at the end of a full block, also where the pass goes on behind it";
    check(rule, 4, &[Append(vec![1, 2, 3, 4, 5, 6]), Truncate(5)]);
    check(rule, 4, &[Append(vec![1, 2]), Append(vec![3, 4, 5, 6]), Truncate(5)]);
}

#[test]
fn copies_behind_the_end_go() {
    let rule = "a copy of what was taken back is dropped: other tokens follow";
    let calls = [
        Append(vec![1, 2, 3]),
        Append(vec![4]),
        Truncate(3),
        Append(vec![7]),
        Append(vec![8, 9]),
        Truncate(5),
    ];
    check(rule, 4, &calls);
}

#[test]
fn each_block_that_a_pass_fills_has_a_copy() {
    let rule =
        "a pass that fills several blocks keeps a copy for each: less than a block is read again";
    check(rule, 3, &[Append((1..12).collect()), Truncate(8)]);
    check(rule, 4, &[Append((1..18).collect()), Truncate(15), Truncate(6)]);
}

#[test]
fn a_copy_at_the_end_is_good() {
    let rule = "a text that is cut at the end of a block goes on from there";
    check(
        rule,
        3,
        &[
            Append(vec![1, 2, 3]),
            Append(vec![4]),
            Truncate(3),
            Append(vec![5]),
        ],
    );
}

#[test]
fn nothing_is_taken_back() {
    let rule = "a text that is no longer than that stays as it is";
    check(
        rule,
        4,
        &[
            Append(vec![1, 2]),
            Truncate(2),
            Truncate(100),
            Append(vec![3]),
        ],
    );
}

#[test]
fn any_calls() {
    let mut random = Random::new(68);
    for _ in 0..300 {
        let (block, mut length, mut calls) = (1 + random.below(4), 0, Vec::new());
        for _ in 0..8 {
            if random.below(2) == 0 {
                let new: Vec<u32> =
                    (0..1 + random.below(6)).map(|_| random.below(90) as u32).collect();
                length += new.len();
                calls.push(Append(new));
            } else {
                length = random.below(length + 1);
                calls.push(Truncate(length));
            }
        }
        check("after any calls, the state is that after all tokens", block, &calls);
    }
}
