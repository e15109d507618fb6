//! A model with windows and experts.

use std::sync::{Arc, LazyLock};

use your_engine::Parts;
use your_engine::other::{made_of, request};
use your_engine::story::{self, Request, Story};
use your_engine::verdict::Expected;

use crate::ANSWERS;
use crate::support::{
    ENGINE, Engine, LIMIT, SAME, assert_each_fits, assert_each_is_seen, right, said_of_text_by,
    with_a_wrong_one,
};

const OF_OTHER_MODELS: [&str; 5] = [
    "window_mask",
    "window_tiles",
    "blocks_behind",
    "mixture",
    "rows_by_expert",
];

static OTHER: LazyLock<Engine> = LazyLock::new(|| Arc::new((made_of(&ENGINE.0), ENGINE.1.clone())));

fn write(parts: &Parts, request: &Request) -> Story {
    story::write(&OTHER, parts, request, LIMIT, |_| ()).unwrap()
}

/// The same story where no block is given back.
static EXPECTED: LazyLock<Expected> = LazyLock::new(|| {
    let plain = Request { blocks: None, ..request() };
    write(&Parts::of_the_book(), &plain).into()
});

fn said(parts: &Parts) -> String {
    said_of_text_by(&OTHER, parts, &request(), &EXPECTED)
}

#[test]
fn a_story_in_few_blocks_is_the_one_in_many() {
    assert_eq!(said(&Parts::of_the_book()), SAME);
    assert_eq!(said(&right(ANSWERS)), SAME);
    let of_other_models = |part| OF_OTHER_MODELS.contains(&part);
    assert_each_fits(ANSWERS.iter().filter(|answers| of_other_models(answers.part)), said);
}

#[test]
fn no_draw_is_so_close_that_rounding_could_turn_it() {
    let Story { margin, .. } = write(&right(ANSWERS), &request());
    assert!(margin > 0.003, "{margin}");
}

#[test]
fn the_pool_has_no_block_too_many() {
    let Request { blocks, .. } = request();
    let fewer = Request { blocks: blocks.map(|blocks| blocks - 1), ..request() };
    let broken = story::write(&OTHER, &Parts::of_the_book(), &fewer, LIMIT, |_| ()).unwrap_err();
    assert!(
        broken.to_string().starts_with("`blocks_behind` has given back too few"),
        "{broken}"
    );
}

#[test]
fn ember_writes_another_story() {
    let plain = Request { blocks: None, ..request() };
    let ember = story::write(&ENGINE, &Parts::of_the_book(), &plain, LIMIT, |_| ()).unwrap();
    assert_ne!(ember.ids, write(&Parts::of_the_book(), &request()).ids);
}

#[test]
fn a_wrong_answer_in_any_place_is_seen() {
    let wrong = [
        (
            "window_mask",
            "wrong_not_causal",
            "call 1 of `window_mask`, number 2 of its result: 1 instead of 0",
        ),
        (
            "window_mask",
            "wrong_columns_from_0",
            "`window_mask` hides everything from a token",
        ),
        (
            "window_mask",
            "wrong_window_of_the_first",
            "call 42 of `window_mask`, number 29 of its result: 1 instead of 0",
        ),
        (
            "window_tiles",
            "wrong_one_too_many",
            "`window_tiles` looks at tile 0, which no query sees",
        ),
        (
            "window_tiles",
            "wrong_up_to_the_last",
            "call 11 of `window_tiles`, line 2 of the tiles that it looks at: tile 1 Whole instead of tile 1 Edge",
        ),
        (
            "window_tiles",
            "wrong_first_rounded_up",
            "The first token that differs is number 35: ",
        ),
        (
            "blocks_behind",
            "wrong_narrowest",
            "`blocks_behind` gave block 0 back, which a query still sees",
        ),
        (
            "blocks_behind",
            "wrong_last_query",
            "call 28 of `blocks_behind`, the blocks that the text needs: 0..13 instead of 1..13",
        ),
        (
            "mixture",
            "wrong_always_renormalized",
            "The first token that differs is number 15: ",
        ),
        (
            "rows_by_expert",
            "wrong_overwritten",
            "The first token that differs is number 2: ",
        ),
        (
            "rows_by_expert",
            "wrong_weight_of_the_first",
            "The first token that differs is number 35: ",
        ),
    ];
    for part in OF_OTHER_MODELS {
        assert!(wrong.iter().any(|(name, ..)| *name == part), "{part}");
    }
    assert_each_is_seen(ANSWERS, &wrong, said);
}

#[test]
fn a_text_can_be_right_with_a_wrong_part() {
    // Each layer has a window, and no two experts have the same score.
    for (part, variant) in [
        ("blocks_behind", "wrong_whole_layers_ignored"),
        ("mixture", "wrong_unstable"),
    ] {
        assert_eq!(with_a_wrong_one(ANSWERS, part, variant, said), SAME, "{part}, {variant}");
    }
}
