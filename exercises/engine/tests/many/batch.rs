//! Several texts in one batch, over blocks.

use your_engine::Parts;
use your_engine::batch::{Counts, Room};
use your_engine::matrix::Bits;
use your_engine::several::{self, Arrival, ROOM};
use your_engine::story::Story;
use your_engine::verdict::{Expected, of_several};

use crate::ANSWERS;
use crate::support::{
    ENGINE, LIMIT, SAME, assert_each_fits, assert_each_is_seen, right, with_a_wrong_one,
};

/// The parts of a batch, except the ones for one text.
const OF_A_BATCH: [&str; 7] = [
    "microkernel",
    "one_step",
    "longest_prefix",
    "block_allocator",
    "preemption",
    "block_table",
    "online_softmax",
];

fn write(parts: &Parts) -> (Vec<Story>, Counts) {
    several::write(&ENGINE, parts, several::arrivals(), ROOM, Bits::All, LIMIT).unwrap()
}

/// What comes of the four texts: what broke, what differs, or else the first call that does.
fn said(parts: &Parts) -> String {
    said_of(parts, several::arrivals(), Bits::All, &Expected::several(&ENGINE.1))
}

fn said_of(parts: &Parts, arrivals: Vec<Arrival>, bits: Bits, expected: &[Expected]) -> String {
    let stories = match several::write(&ENGINE, parts, arrivals, ROOM, bits, LIMIT) {
        Ok((stories, _)) => stories,
        Err(broken) => return broken.to_string(),
    };
    match (of_several(&stories, expected), parts.noticed.odd()) {
        (Some((number, verdict)), _) => format!("Text {number}: {}", verdict.in_words(&ENGINE.1)),
        (None, Some(odd)) => odd.to_string(),
        (None, None) => SAME.to_owned(),
    }
}

/// The first text from weights in 8 bits.
fn said_in_8_bits(parts: &Parts) -> String {
    let first = || several::arrivals().into_iter().take(1).collect::<Vec<_>>();
    let book = Parts::of_the_book();
    let (stories, _) = several::write(&ENGINE, &book, first(), ROOM, Bits::Eight, LIMIT).unwrap();
    let expected: Vec<Expected> = stories.into_iter().map(Expected::from).collect();
    said_of(parts, first(), Bits::Eight, &expected)
}

#[test]
fn each_text_is_the_one_that_the_crate_writes_alone() {
    assert_eq!(Expected::several(&ENGINE.1).len(), several::arrivals().len());
    assert_eq!(said(&Parts::of_the_book()), SAME);
    assert_eq!(said(&right(ANSWERS)), SAME);
}

#[test]
fn each_reference_answer_fits_between_parts_of_the_book() {
    assert_each_fits(ANSWERS.iter().filter(|answers| OF_A_BATCH.contains(&answers.part)), said);
}

#[test]
fn the_four_texts_ask_something_of_every_part() {
    let (_, counts) = write(&Parts::of_the_book());
    for happened in [
        counts.found,
        counts.preempted,
        counts.deferred,
        counts.paused,
    ] {
        assert!(happened > 0, "{counts:?}");
    }
    // The same steps, whichever parts are yours.
    assert_eq!(counts, write(&right(ANSWERS)).1);
    let longest = several::arrivals().len() * ROOM.most();
    assert!(counts.computed < longest, "{counts:?}");
}

#[test]
fn a_text_has_the_same_bits_in_a_batch_as_alone() {
    for parts in [Parts::of_the_book(), right(ANSWERS)] {
        let (together, _) = write(&parts);
        for (arrival, together) in several::arrivals().into_iter().zip(together) {
            let arrival = Arrival { step: 0, away: 0, ..arrival };
            // And with a prompt in one piece, or token by token.
            for token_budget in [1, 64] {
                let room = Room { token_budget, max_running: 1, blocks: 128 };
                let alone = vec![arrival.clone()];
                let (alone, _) =
                    several::write(&ENGINE, &parts, alone, room, Bits::All, LIMIT).unwrap();
                let bits = |story: &Story| -> Vec<u32> {
                    story.probabilities.iter().map(|number| number.to_bits()).collect()
                };
                assert_eq!(bits(&alone[0]), bits(&together));
            }
        }
    }
}

#[test]
fn no_draw_of_the_four_texts_is_so_close_that_rounding_could_turn_it() {
    let [book, yours] = [Parts::of_the_book(), right(ANSWERS)].map(|parts| write(&parts).0);
    for (book, yours) in book.iter().zip(&yours) {
        assert!(book.margin > 0.003, "{}", book.margin);
        let pairs = book.probabilities.iter().zip(&yours.probabilities);
        let moved = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(moved < 1e-5, "{moved}");
    }
}

#[test]
fn weights_in_8_bits_give_another_model_and_the_same_text_for_all_parts() {
    assert_eq!(said_in_8_bits(&right(ANSWERS)), SAME);
    let first = || several::arrivals().into_iter().take(1).collect::<Vec<_>>();
    let book = Parts::of_the_book();
    let [all, eight] = [Bits::All, Bits::Eight].map(|bits| {
        several::write(&ENGINE, &book, first(), ROOM, bits, LIMIT).unwrap().0.remove(0)
    });
    assert_ne!(all.probabilities, eight.probabilities);
}

#[test]
fn a_wrong_answer_in_any_place_is_seen() {
    let wrong = [
        (
            "microkernel",
            "wrong_lanes_backwards",
            "Text 1: The first token that differs is number 1: ",
        ),
        (
            "microkernel",
            "wrong_first_panel_alone",
            "`microkernel` made no 48 panels of 192 inputs of a matrix [192][192]",
        ),
        (
            "microkernel",
            "wrong_first_row_only",
            "Text 1: The first token that differs is number 2: ",
        ),
        (
            "one_step",
            "wrong_prompts_first",
            "call 4 of `one_step`, line 1 of its plan: C 2, logits instead of A 1, logits",
        ),
        (
            "one_step",
            "wrong_all_want_logits",
            "call 3 of `one_step`, line 3 of its plan: C 6, logits instead of C 6",
        ),
        (
            "one_step",
            "wrong_no_logits_for_prompts",
            "`one_step` wants no logits of the last token of 'A'",
        ),
        (
            "one_step",
            "wrong_decode_begins_late",
            "`one_step` plans nothing that goes on: 2 texts run, and 0 wait",
        ),
        (
            "one_step",
            "wrong_one_place_too_many",
            "call 6 of `one_step`, line 4 of its plan: D 5 instead of nothing",
        ),
        (
            "longest_prefix",
            "wrong_whole_prompt",
            "`longest_prefix` leaves no token of a prompt to compute",
        ),
        (
            "longest_prefix",
            "wrong_each_block_alone",
            "call 4 of `longest_prefix`, the blocks of a prompt: [23] instead of [23, 19]",
        ),
        (
            "longest_prefix",
            "wrong_first_block_alone",
            "call 4 of `longest_prefix`, the blocks of a prompt: [23] instead of [23, 19]",
        ),
        (
            "block_allocator",
            "wrong_never_free",
            "`block_allocator` gives no 1 blocks, though 1 are free",
        ),
        (
            "block_allocator",
            "wrong_free_at_the_first_release",
            "`block_allocator` gives block 21, which has an owner",
        ),
        (
            "block_allocator",
            "wrong_share_is_an_allocation",
            "`block_allocator` gives no 1 blocks, though 12 are free",
        ),
        (
            "preemption",
            "wrong_computed_kept",
            "call 24 of `preemption`, line 4 of who holds what: B paused, 13 of 14 tokens, blocks [] instead of B paused, 0 of 14 ",
        ),
        (
            "preemption",
            "wrong_oldest_running_first",
            "call 28 of `preemption`, line 1 of who holds what: C running, ",
        ),
        (
            "preemption",
            "wrong_paused_ones_spared",
            "call 24 of `preemption`, line 3 of who holds what: B paused, 13 of 14 tokens, blocks [22, ",
        ),
        (
            "preemption",
            "wrong_preempts_itself",
            "call 31 of `preemption`, line 3 of who holds what: C waiting, 0 of 45 tokens, blocks [] instead of C running, ",
        ),
        (
            "preemption",
            "wrong_true_all_the_same",
            "`preemption` says that the blocks are free that ",
        ),
        (
            "block_table",
            "wrong_index_for_id",
            "Text 1: The first token that differs is number 4: ",
        ),
        (
            "block_table",
            "wrong_block_by_remainder",
            "`block_table` does not know where position 2 of 5 lies",
        ),
        (
            "block_table",
            "wrong_reserved_is_written",
            "call 1 of `block_table`, line 11 of where positions lie: block 24 offset 1 instead of None",
        ),
        ("block_table", "wrong_sorted", "`block_table` leads to block 23, which is empty"),
        (
            "online_softmax",
            "wrong_never_scaled",
            "Text 1: The first token that differs is number 6: ",
        ),
        (
            "online_softmax",
            "wrong_sum_not_scaled",
            "Text 1: The first token that differs is number 6: ",
        ),
        (
            "online_softmax",
            "wrong_mean_by_count",
            "Text 1: The first token that differs is number 7: ",
        ),
    ];
    for part in OF_A_BATCH {
        assert!(wrong.iter().any(|(name, ..)| *name == part), "{part}");
    }
    assert_each_is_seen(ANSWERS, &wrong, said);
}

#[test]
fn a_wrong_product_with_8_bits_is_seen() {
    let wrong = "wrong_one_scale";
    let said = with_a_wrong_one(ANSWERS, "group_product", wrong, said_in_8_bits);
    assert!(said.starts_with("Text 1: The first token that differs is number 1: "), "{said}");
}

#[test]
fn texts_can_be_right_with_a_wrong_part() {
    // A rounding more or less, and what four texts do not ask for.
    for (part, variant) in [
        ("microkernel", "wrong_rounded_twice"),
        ("microkernel", "wrong_last_outputs_lost"),
        ("block_table", "wrong_in_u32"),
        ("block_allocator", "wrong_gives_what_there_is"),
        ("online_softmax", "wrong_nan_where_hidden"),
        ("block_allocator", "wrong_at_most_255_owners"),
    ] {
        assert_eq!(with_a_wrong_one(ANSWERS, part, variant, said), SAME, "{part}, {variant}");
    }
}
