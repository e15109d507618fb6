//! A text whose kernels run unit by unit.

use std::sync::LazyLock;

use your_engine::Parts;
use your_engine::story::{self, Request};
use your_engine::units::{Units, request};
use your_engine::verdict::Expected;

use crate::ANSWERS;
use crate::support::{
    ENGINE, LIMIT, SAME, assert_each_fits, assert_each_is_seen, right, said_of_text,
    with_a_wrong_one,
};

const ON_UNITS: [&str; 4] = ["tree_sum", "launch_grid", "rotation_race", "slab_index"];

/// The same story without units.
static EXPECTED: LazyLock<Expected> = LazyLock::new(|| {
    let plain = Request { units: None, ..request() };
    story::write(&ENGINE, &Parts::of_the_book(), &plain, LIMIT, |_| ()).unwrap().into()
});

fn said(parts: &Parts) -> String {
    said_of_text(parts, &request(), &EXPECTED)
}

#[test]
fn a_story_on_units_is_the_one_without() {
    assert_eq!(said(&Parts::of_the_book()), SAME);
    assert_eq!(said(&right(ANSWERS)), SAME);
    assert_each_fits(ANSWERS.iter().filter(|answers| ON_UNITS.contains(&answers.part)), said);
}

#[test]
fn a_text_is_bit_identical_on_any_number_of_units() {
    for parts in [Parts::of_the_book(), right(ANSWERS)] {
        let bits = |of_a_cube| -> Vec<u32> {
            let request = Request { units: Some(Units { of_a_cube }), ..request() };
            let story = story::write(&ENGINE, &parts, &request, LIMIT, |_| ()).unwrap();
            story.probabilities.iter().map(|number| number.to_bits()).collect()
        };
        assert_eq!(bits(80), bits(1));
        assert_eq!(bits(80), bits(256));
    }
}

#[test]
fn a_wrong_answer_in_any_place_is_seen() {
    let wrong = [
        ("tree_sum", "wrong_half_twice", "`tree_sum` panicked at "),
        ("tree_sum", "wrong_lanes_as_units", "`tree_sum` comes to "),
        ("launch_grid", "wrong_no_bounds", "`launch_grid` panicked at "),
        (
            "launch_grid",
            "wrong_weight_of_the_unit",
            "The first token that differs is number 2: ",
        ),
        (
            "rotation_race",
            "wrong_rounded_down",
            "The first token that differs is number 6: ",
        ),
        (
            "rotation_race",
            "wrong_last_pair_left_out",
            "call 5 of `rotation_race`, number 72 of its result: ",
        ),
        (
            "slab_index",
            "wrong_values_forgotten",
            "The first token that differs is number 1: ",
        ),
        (
            "slab_index",
            "wrong_values_beside_keys",
            "call 2 of `slab_index`, number 97729 of its result: ",
        ),
        ("slab_index", "wrong_no_bounds", "`slab_index` panicked at "),
    ];
    for part in ON_UNITS {
        assert!(wrong.iter().any(|(name, ..)| *name == part), "{part}");
    }
    assert_each_is_seen(ANSWERS, &wrong, said);
}

#[test]
fn a_text_can_be_right_with_a_wrong_part() {
    // Here the units run one after the other, and a sum from its end differs by less than rounding.
    for (part, variant) in [
        ("tree_sum", "wrong_from_the_end"),
        ("launch_grid", "wrong_interleaved"),
    ] {
        assert_eq!(with_a_wrong_one(ANSWERS, part, variant, said), SAME, "{part}, {variant}");
    }
}
