//! A text with guesses.

use std::sync::LazyLock;

use your_engine::Parts;
use your_engine::batch::Room;
use your_engine::guesses::LOOKUP;
use your_engine::matrix::Bits;
use your_engine::several::{self, Arrival};
use your_engine::story::{self, Request, Story, told_again};
use your_engine::verdict::Expected;

use crate::ANSWERS;
use crate::support::{
    ENGINE, LIMIT, SAME, assert_each_fits, assert_each_is_seen, right, said_of_text,
    with_a_wrong_one,
};

const WITH_GUESSES: [&str; 3] = ["prompt_lookup", "accept_guesses", "truncate_blocks"];

fn write(parts: &Parts, request: &Request) -> Story {
    story::write(&ENGINE, parts, request, LIMIT, |_| ()).unwrap()
}

/// The same story without guesses.
static EXPECTED: LazyLock<Expected> = LazyLock::new(|| {
    let plain = Request { guesses: None, ..told_again() };
    write(&Parts::of_the_book(), &plain).into()
});

fn said(parts: &Parts) -> String {
    said_of_text(parts, &told_again(), &EXPECTED)
}

#[test]
fn a_story_with_guesses_is_the_one_without() {
    assert_eq!(said(&Parts::of_the_book()), SAME);
    assert_eq!(said(&right(ANSWERS)), SAME);
    assert_each_fits(ANSWERS.iter().filter(|answers| WITH_GUESSES.contains(&answers.part)), said);
}

#[test]
fn most_guesses_are_right_and_some_are_not() {
    let Story { ids, guesses, .. } = write(&Parts::of_the_book(), &told_again());
    assert!(2 * guesses.passes < ids.len(), "{guesses:?}");
    assert!(guesses.accepted < guesses.guessed, "{guesses:?}");
    assert_eq!(guesses, write(&right(ANSWERS), &told_again()).guesses);
    // Those at the end may be more than the story has.
    let most = guesses.passes + guesses.accepted;
    assert!((ids.len()..=ids.len() + LOOKUP.most).contains(&most), "{guesses:?}");
}

#[test]
fn a_text_has_the_same_bits_with_guesses() {
    let with_guesses = Request { guesses: Some(LOOKUP), ..Request::default() };
    for parts in [Parts::of_the_book(), right(ANSWERS)] {
        let story = write(&parts, &with_guesses);
        assert!(story.guesses.accepted > 0 && story.guesses.guessed > story.guesses.accepted);
        // Over blocks too.
        let arrival = Arrival { request: Request::default(), step: 0, away: 0 };
        let room = Room { token_budget: 64, max_running: 1, blocks: 128 };
        let (alone, _) =
            several::write(&ENGINE, &parts, vec![arrival], room, Bits::All, LIMIT).unwrap();
        assert_eq!(story.ids, alone[0].ids);
        let bits = |story: &Story| -> Vec<u32> {
            story.probabilities.iter().map(|number| number.to_bits()).collect()
        };
        assert_eq!(bits(&story), bits(&alone[0]));
    }
}

#[test]
fn a_wrong_answer_in_any_place_is_seen() {
    let wrong = [
        (
            "prompt_lookup",
            "wrong_first_occurrence",
            "call 17 of `prompt_lookup`, its guesses: [200, 1007, ",
        ),
        (
            "accept_guesses",
            "wrong_agreements_counted",
            "The first token that differs is number ",
        ),
        (
            "accept_guesses",
            "wrong_no_bonus",
            "`accept_guesses` keeps 8 rows, where the text gains 7 tokens",
        ),
        ("accept_guesses", "wrong_row_of_the_replacement", "`accept_guesses` keeps "),
        (
            "truncate_blocks",
            "wrong_one_block_more",
            "call 7 of `truncate_blocks`, line 1 of who holds what: 316 positions in 80 blocks, the last Some(47) instead of 316 positions in 79 blocks",
        ),
        (
            "truncate_blocks",
            "wrong_last_not_cut",
            "call 6 of `truncate_blocks`, line 51 of who holds what: block 48: 1 owners, 4 filled instead of ",
        ),
        (
            "truncate_blocks",
            "wrong_from_the_end",
            "call 7 of `truncate_blocks`, line 2 of who holds what: free now [49, 47] instead of ",
        ),
    ];
    for part in WITH_GUESSES {
        assert!(wrong.iter().any(|(name, ..)| *name == part), "{part}");
    }
    assert_each_is_seen(ANSWERS, &wrong, said);
}

#[test]
fn texts_can_be_right_with_a_wrong_part() {
    for (part, variant) in [
        ("prompt_lookup", "wrong_shortest_first"),
        ("prompt_lookup", "wrong_longer_than_the_text"),
        ("accept_guesses", "wrong_at_most_8"),
        ("truncate_blocks", "wrong_shared_freed"),
    ] {
        assert_eq!(with_a_wrong_one(ANSWERS, part, variant, said), SAME, "{part}, {variant}");
    }
}
