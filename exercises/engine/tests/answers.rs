//! The engine writes *First light* with the book's parts and with the reference answers, and says what
//! is wrong with a wrong one in each place.

extern crate std as shuttle;

#[path = "many/batch.rs"]
mod batch;
#[path = "more/guesses.rs"]
mod guesses;
#[path = "many/http.rs"]
mod http;
#[path = "more/other.rs"]
mod other;
#[path = "more/regex.rs"]
mod regex;
#[path = "more/router.rs"]
mod router;
#[path = "more/speed.rs"]
mod speed;
mod support;
#[cfg(feature = "tensors")]
#[path = "../src/tensors.rs"]
mod tensors;
#[path = "more/units.rs"]
mod units;
#[cfg(feature = "tensors")]
mod with_tensors;

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use support::{
    Answers, ENGINE, SAME, assert_each_fits, assert_each_is_seen, right, said, with_a_wrong_one,
    write,
};
use your_engine::Parts;
use your_engine::parts::PARTS;
use your_engine::sampler::Sampler;
use your_engine::story::{self, Request};

include!(concat!(env!("OUT_DIR"), "/answers.rs"));

#[test]
fn the_parts_of_the_book_write_first_light() {
    assert_eq!(said(&Parts::of_the_book()), SAME);
}

#[test]
fn the_reference_answers_write_first_light() {
    assert_eq!(said(&right(ANSWERS)), SAME);
}

#[test]
fn each_reference_answer_fits_between_parts_of_the_book() {
    assert_each_fits(ANSWERS, said);
}

#[test]
fn every_part_has_an_answer() {
    let parts = PARTS.iter().filter(|part| cfg!(feature = "tensors") || !part.tensors);
    assert!(parts.map(|part| part.exercise).eq(ANSWERS.iter().map(|answers| answers.part)));
}

#[test]
fn a_wrong_answer_in_any_place_is_seen() {
    let wrong = [
        ("merge", "wrong_one_pass_of_all_merges", "The prompt has other ids: [0, 566, "),
        (
            "chunked_prefill",
            "wrong_rest_dropped",
            "The first token that differs is number 1: ",
        ),
        ("rms_norm", "wrong_subtracts_mean", "The first token that differs is number 6: "),
        ("rope", "wrong_overwritten", "The first token that differs is number 18: "),
        (
            "grouped_query_attention",
            "wrong_heads_dealt_in_turn",
            // With tensors, `attend_to_cache` takes over from it behind the prompt.
            if cfg!(feature = "tensors") {
                "The first token that differs is number 11: "
            } else {
                "The first token that differs is number 2: "
            },
        ),
        ("swiglu", "wrong_relu", "The first token that differs is number 6: "),
        ("swiglu", "wrong_transposed", "`swiglu` returned 512 numbers instead of 192"),
        ("last_row", "wrong_first_row", "The first token that differs is number 1: "),
        ("at_temperature", "wrong_multiplied", "The first token that differs is number "),
        ("nucleus", "wrong_not_sorted", "The first token that differs is number 6: "),
        ("draw", "wrong_zeros_removed", "The first token that differs is number 1: "),
        (
            "generate",
            "wrong_end_kept",
            "The first token that differs is number 166: 1 \"\" instead of nothing",
        ),
        (
            "incremental_decode",
            "wrong_each_piece_alone",
            "The ids are right. The text that was streamed differs from character ",
        ),
        (
            "stop_strings",
            "wrong_stop_string_kept",
            "The ids are right. The text that was streamed differs from character ",
        ),
        ("stop_strings", "wrong_bytes", "`stop_strings` panicked at "),
        (
            "token_stream",
            "wrong_token_lost",
            "The ids are right. The text that was streamed differs from character ",
        ),
        (
            "detokenize",
            "wrong_special_are_text",
            "The ids are right. The text of all ids differs from character 1 on: ",
        ),
    ];
    // Those of several texts have their own.
    for part in PARTS[..20].iter().filter(|part| !part.tensors && part.exercise != "microkernel") {
        assert!(wrong.iter().any(|(name, ..)| *name == part.exercise), "{part:?}");
    }
    assert_each_is_seen(ANSWERS, &wrong, said);
}

#[test]
fn a_todo_is_said_with_its_place() {
    let mut parts = right(ANSWERS);
    parts.rope = |_, _, _| todo!();
    let said = said(&parts);
    assert!(
        said.starts_with("`rope` panicked at exercises/engine/tests/answers.rs:"),
        "{said}"
    );
    assert!(said.ends_with(": not yet implemented"), "{said}");
}

#[test]
fn a_part_that_does_not_return_is_named_also_inside_the_loop() {
    let mut parts = right(ANSWERS);
    parts.swiglu = |_, _, _, _| {
        loop {
            thread::sleep(Duration::from_secs(1));
        }
    };
    // Longer than a busy machine keeps a part waiting.
    let limit = Duration::from_secs(3);
    let broken = story::write(&ENGINE, &parts, &Request::default(), limit, |_| ()).unwrap_err();
    assert_eq!(broken.part, "swiglu");
    assert!(broken.did.starts_with("has not returned for "), "{broken}");
}

#[test]
fn a_loop_that_asks_for_ever_is_stopped() {
    let mut parts = right(ANSWERS);
    parts.generate = |next, prompt, _, _, _| {
        loop {
            next(prompt);
        }
    };
    let broken = write(&parts).unwrap_err();
    assert_eq!(broken.to_string(), "`generate` has asked for token 402, and does not end");
}

#[test]
fn the_first_result_that_is_not_the_books_is_named() {
    let mut parts = right(ANSWERS);
    write(&parts).unwrap();
    assert_eq!(parts.noticed.odd(), None, "no reference answer differs by more than rounding");
    // The tokens do not show this one: its sign is wrong for the first position but one.
    parts = right(ANSWERS);
    parts.rope = |x, position, theta| {
        let turned = (Parts::of_the_book().rope)(x, position, theta);
        turned.iter().map(|x| if position == 1 { -x } else { *x }).collect()
    };
    write(&parts).unwrap();
    let odd = parts.noticed.odd().unwrap();
    // Each of four query heads is turned at the positions 0, 1 and 2.
    assert_eq!((odd.part, odd.call), ("rope", 2));
    let [found, expected] =
        [&odd.found, &odd.expected].map(|number| number.parse::<f32>().unwrap());
    assert_eq!(found, -expected);
    let said = odd.to_string();
    assert!(said.starts_with("call 2 of `rope`, number 1 of its result: "), "{said}");
}

#[test]
fn a_draw_that_is_off_by_one_is_named_where_ids_are_large_too() {
    let mut parts = Parts::of_the_book();
    parts.yours.push("draw");
    parts.draw = |probabilities, point| (Parts::of_the_book().draw)(probabilities, point) - 1;
    let mut logits = vec![0.0_f32; 2048];
    logits[1500] = 50.0;
    assert_eq!(Sampler::new(0.8, 0.95, 42).sample(&parts, &logits), 1499);
    let odd = parts.noticed.odd().unwrap();
    assert_eq!(odd.to_string(), "call 1 of `draw`, its result: 1499 instead of 1500");
}

#[test]
fn a_prefill_that_reads_at_other_positions_is_named() {
    let mut parts = right(ANSWERS);
    parts.chunked_prefill = |prompt, cached, chunk, forward| {
        let (mut start, mut logits) = (cached, Vec::new());
        for tokens in prompt.chunks(chunk) {
            logits = forward(tokens, start);
            start += tokens.len() - 1;
        }
        logits
    };
    // The prompt has several chunks of 3: the second begins a position too early.
    write(&parts).unwrap();
    let odd = parts.noticed.odd().unwrap();
    assert_eq!((odd.part, odd.call), ("chunked_prefill", 1));
    assert_eq!(
        odd.to_string(),
        "call 1 of `chunked_prefill`, number 4 of the positions that it reads at: 2 instead of 3"
    );
}

#[test]
fn a_story_can_be_right_with_a_wrong_part() {
    // RoPE shows only distances, and no story has a broken character.
    for (part, variant) in [
        ("rope", "wrong_position_from_one"),
        ("incremental_decode", "wrong_waits_for_ever"),
    ] {
        assert_eq!(with_a_wrong_one(ANSWERS, part, variant, said), SAME, "{part}");
    }
}

#[test]
fn no_draw_of_first_light_is_so_close_that_rounding_could_turn_it() {
    let [book, yours] = [Parts::of_the_book(), right(ANSWERS)].map(|parts| write(&parts).unwrap());
    assert!(book.margin > 0.003, "{}", book.margin);
    // The reference answers add up in another order.
    let pairs = book.probabilities.iter().zip(&yours.probabilities);
    let moved = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(moved > 0.0 && moved < 1e-5, "{moved}");
}

#[test]
fn other_prompts_and_seeds_come_out_the_same_too() {
    for (prompt, seed) in [("The storm", 7), (" Café 22:\n\n It's  late,  ", 1)] {
        let request = Request { prompt: prompt.into(), seed, ..Request::default() };
        let [book, yours] = [Parts::of_the_book(), right(ANSWERS)].map(|parts| {
            story::write(&ENGINE, &parts, &request, Duration::from_secs(5), |_| ()).unwrap()
        });
        assert_eq!(book.prompt, yours.prompt);
        assert_eq!(book.ids, yours.ids);
        assert_eq!(book.streamed, yours.streamed);
    }
}

#[test]
fn a_prompt_that_is_too_long_is_blamed_on_no_part() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_your-engine"))
        .args(["--prompt", &"x ".repeat(600)])
        .current_dir(root)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("error: the prompt has "), "{said}");
    assert!(said.ends_with(" tokens, and the model reads 512 at most\n"), "{said}");
    // 1 says that a text is not the book's.
    assert_eq!(output.status.code(), Some(2));
}
