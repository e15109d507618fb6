use super::prompt_lookup::{Lookup, prompt_lookup};
use crate::support::{Case, Random};

const USUAL: Lookup = Lookup { shortest: 1, longest: 3, most: 3 };

fn check(rule: &str, text: &[u32], lookup: Lookup, expected: &[u32]) {
    let case = Case::rule(rule).given("text", text).given("lookup", lookup);
    case.equal(expected.to_vec(), prompt_lookup(text, lookup));
}

#[test]
fn the_example_of_the_task() {
    let text = [5, 1, 2, 3, 9, 1, 2, 4, 7, 1, 2];
    check(
        "the example above the function: the longest end that occurs earlier, its last occurrence, and what follows it",
        &text,
        USUAL,
        &[4, 7, 1],
    );
}

#[test]
fn the_longest_end_is_searched_first() {
    let text = [7, 1, 2, 3, 8, 1, 2, 4, 7, 1, 2];
    let rule = "the last 3 tokens are searched before the last 2, although the 2 occur later";
    check(rule, &text, USUAL, &[3, 8, 1]);
    let rule = "no more than `longest` tokens are compared";
    check(rule, &text, Lookup { longest: 2, ..USUAL }, &[4, 7, 1]);
    let rule = "one token less each time, down to `shortest`";
    check(rule, &[4, 6, 5, 9, 8, 7, 4], USUAL, &[6, 5, 9]);
    check(rule, &[4, 6, 5, 9, 8, 7, 4], Lookup { shortest: 2, ..USUAL }, &[]);
}

#[test]
fn the_last_occurrence_counts() {
    let rule = "of several occurrences, the one that begins last";
    check(rule, &[1, 5, 6, 1, 7, 8, 1], USUAL, &[7, 8, 1]);
    let rule = "the last occurrence counts, not the first, even if fewer tokens follow it";
    check(rule, &[1, 5, 6, 7, 1, 8, 1], USUAL, &[8, 1]);
}

#[test]
fn an_occurrence_may_overlap_the_end() {
    let rule = "an occurrence begins before the last `n` tokens do, and may overlap them";
    check(rule, &[1, 2, 1, 2, 1], USUAL, &[2, 1]);
    check(rule, &[4, 4, 4, 4], USUAL, &[4]);
    check(rule, &[4, 4], USUAL, &[4]);
    check(rule, &[6, 5, 6, 5, 6, 5, 6], Lookup { longest: 5, ..USUAL }, &[5, 6]);
}

#[test]
fn no_more_than_most_tokens_are_guessed() {
    let text = [9, 1, 2, 3, 4, 5, 6, 9];
    let rule = "`most` tokens, or as many as there are";
    for (most, expected) in [
        (0, &[][..]),
        (1, &[1][..]),
        (2, &[1, 2]),
        (7, &[1, 2, 3, 4, 5, 6, 9]),
        (8, &[1, 2, 3, 4, 5, 6, 9]),
        (100_000, &[1, 2, 3, 4, 5, 6, 9]),
        (usize::MAX, &[1, 2, 3, 4, 5, 6, 9]),
    ] {
        check(rule, &text, Lookup { most, ..USUAL }, expected);
    }
}

#[test]
fn nothing_is_found() {
    let rule = "if nothing is found, the guess is empty";
    check(rule, &[1, 2, 3, 4], USUAL, &[]);
    check(rule, &[7], USUAL, &[]);
    check(rule, &[], USUAL, &[]);
}

#[test]
fn a_text_may_be_shorter_than_longest() {
    let rule = "`longest` may be more than the text has";
    for longest in [3, 4, 5, 100_000] {
        check(rule, &[2, 8, 2], Lookup { longest, ..USUAL }, &[8, 2]);
        check(rule, &[2], Lookup { longest, ..USUAL }, &[]);
    }
    let rule = "`shortest` may be more than the text has";
    check(rule, &[2, 2, 2], Lookup { shortest: 4, longest: 9, most: 3 }, &[]);
}

/// How many tokens before `end` are equal to the last of the text.
fn equal_before(text: &[u32], end: usize) -> usize {
    let pairs = text[..end].iter().rev().zip(text.iter().rev());
    pairs.take_while(|(a, b)| a == b).count()
}

#[test]
fn any_text() {
    let mut random = Random::new(13);
    for _ in 0..2000 {
        let length = random.below(24);
        let tokens = 1 + random.below(4);
        let text: Vec<u32> = (0..length).map(|_| random.below(tokens) as u32).collect();
        let shortest = 1 + random.below(3);
        let lookup = Lookup {
            shortest,
            longest: shortest + random.below(4),
            most: random.below(6),
        };
        // Where the guess begins: after the most equal tokens, and of several as late as possible.
        let equal = |start: &usize| equal_before(&text, *start).min(lookup.longest);
        let start = (1..length).max_by_key(equal).filter(|start| equal(start) >= shortest);
        let guess = start.map_or(&[][..], |start| &text[start..]);
        let expected = &guess[..guess.len().min(lookup.most)];
        let rule = "the longest end that occurs earlier, its last occurrence, and what follows";
        check(rule, &text, lookup, expected);
    }
}

#[test]
fn long_texts_and_great_ids() {
    let text: Vec<u32> = (0..3000).chain([0]).collect();
    let case = Case::rule("the whole text is searched, however long it is")
        .given("text", "0 1 2 ... 2999 0")
        .given("lookup", USUAL);
    case.equal(vec![1, 2, 3], prompt_lookup(&text, USUAL));
    check("an id is a number like any other", &[256, 5, 65_536, 7, 0], USUAL, &[]);
}
