//! A text inside a regular expression.

use std::sync::LazyLock;

use your_engine::Parts;
use your_engine::constraint::Automaton;
use your_engine::parts::End;
use your_engine::story::{self, REGEX, Request, inside};
use your_engine::verdict::Expected;

use crate::ANSWERS;
use crate::support::{
    ENGINE, LIMIT, SAME, assert_each_fits, assert_each_is_seen, right, said_of_text,
    with_a_wrong_one,
};

const OF_A_REGEX: [&str; 4] = ["prune_states", "token_trie", "state_mask", "where_it_ends"];

static EXPECTED: LazyLock<Expected> = LazyLock::new(|| {
    let (book, request) = (Parts::of_the_book(), inside(REGEX).unwrap());
    story::write(&ENGINE, &book, &request, LIMIT, |_| ()).unwrap().into()
});

fn said(parts: &Parts) -> String {
    said_of_text(parts, &inside(REGEX).unwrap(), &EXPECTED)
}

#[test]
fn all_parts_keep_a_text_inside() {
    assert_eq!(said(&Parts::of_the_book()), SAME);
    assert_eq!(said(&right(ANSWERS)), SAME);
    assert_each_fits(ANSWERS.iter().filter(|answers| OF_A_REGEX.contains(&answers.part)), said);
}

#[test]
fn a_text_is_what_the_pattern_says_to_its_last_byte() {
    let write = |pattern: &str, max_tokens| {
        let request = Request { max_tokens, ..inside(pattern).unwrap() };
        story::write(&ENGINE, &right(ANSWERS), &request, LIMIT, |_| ()).unwrap()
    };
    let story = write(r", [0-9]{3} (é|🐸)!", 60);
    let (digits, rest) = story.streamed.strip_prefix(", ").unwrap().split_at(3);
    assert!(digits.bytes().all(|byte| byte.is_ascii_digit()), "{digits}");
    assert!([" é!", " 🐸!"].contains(&rest), "{rest}");
    assert_eq!(story.end, End::Eos);
    // A text that may end goes on where the model wants it to.
    assert!(write(r"[^\n]*", 20).streamed.starts_with(", there was"));
    // It is cut off where it has all of its tokens.
    assert_eq!(write(r"[a-z ]+", 5).end, End::Length);
}

#[test]
fn a_pattern_that_is_wrong_is_refused() {
    let why = Automaton::of("(a").unwrap_err();
    assert!(why.starts_with("--regex takes a regular expression"), "{why}");
    assert!(Automaton::of(r"\bword").is_err());
    assert!(Automaton::of("(a?){5000}a{5000}").is_err());
}

#[test]
fn a_wrong_answer_in_any_place_is_seen() {
    let wrong = [
        ("prune_states", "wrong_as_it_is", "The first token that differs is number 2: "),
        (
            "prune_states",
            "wrong_accepting_only",
            "`where_it_ends` says that no token can come",
        ),
        ("token_trie", "wrong_ids_from_one", ""),
        ("token_trie", "wrong_leaves_only", "call 1 of `token_trie`, line "),
        ("token_trie", "wrong_u8", ""),
        ("state_mask", "wrong_leaves_only", ""),
        ("state_mask", "wrong_u8", ""),
        ("where_it_ends", "wrong_not_sorted", "call "),
    ];
    for part in OF_A_REGEX {
        assert!(wrong.iter().any(|(name, ..)| *name == part), "{part}");
    }
    assert_each_is_seen(ANSWERS, &wrong, said);
}

#[test]
fn texts_can_be_right_with_a_wrong_part() {
    // Ember has one token that ends a text, and no token that looks like a special one.
    for (part, variant) in [
        ("where_it_ends", "wrong_first_end_only"),
        ("where_it_ends", "wrong_stuck_without_an_end_token"),
        ("where_it_ends", "wrong_ends_where_it_is_stuck"),
        ("state_mask", "wrong_ascii"),
        ("token_trie", "wrong_looks_special"),
    ] {
        assert_eq!(with_a_wrong_one(ANSWERS, part, variant, said), SAME, "{part}, {variant}");
    }
}
