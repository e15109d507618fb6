//! `13_guess_ahead`, and `--speculate`.

use super::*;

const GUESS_AHEAD: &str = "13_guess_ahead";

#[test]
fn a_story_told_again_takes_fewer_passes_and_has_the_same_bits() {
    let flags = ["--device", "cpu", "--rounds", "1", "--max-tokens", "60"];
    let report = succeed_in_json(GUESS_AHEAD, &flags);
    let texts = report["texts"].as_array().unwrap();
    assert_eq!(texts.len(), 2);
    for text in texts {
        assert_eq!(text["same_bits"], true);
        let (accepted, drafted) = (text["accepted"].as_u64(), text["drafted"].as_u64());
        assert!(accepted <= drafted);
        let steps = text["steps"].as_array().unwrap();
        let sum: u64 = steps.iter().map(|step| step["accepted"].as_u64().unwrap()).sum();
        assert_eq!(Some(sum), accepted);
    }
    let again = &texts[1];
    assert!(again["tokens_per_pass"].as_f64().unwrap() > 2.0, "{again}");
    let text = succeed(GUESS_AHEAD, &flags);
    assert!(text.contains("told again") && text.contains("the same"), "{text}");
}

#[test]
fn guessing_ahead_changes_no_bit_of_a_text() {
    let flags = ["--device", "cpu", "--max-tokens", "40", "--seed", "7"];
    let draft = common::ember();
    let draft = draft.to_str().unwrap();
    let ways: [&[&str]; 4] = [
        &["--speculate", "lookup"],
        &[
            "--speculate",
            "draft",
            "--draft",
            draft,
            "--draft-tokens",
            "3",
        ],
        &["--speculate", "auto", "--draft", draft],
        &["--speculate", "auto"],
    ];
    let plain = succeed_in_json(CACHED, &flags);
    assert_eq!((&plain["drafted"], &plain["accepted"]), (&json!(0), &json!(0)));
    for way in ways {
        let found = succeed_in_json(CACHED, &[&flags[..], way].concat());
        assert_eq!(found["ids"], plain["ids"], "{way:?}");
        assert_eq!(found["logits_hash"], plain["logits_hash"], "{way:?}");
    }
    // The draft model is the model itself.
    let found = succeed_in_json(CACHED, &[&flags[..], ways[1]].concat());
    assert_eq!(found["accepted"], found["drafted"]);
    let batch = |way: &[&str]| {
        let lines = lines(BATCHING, &[&flags[..], way].concat());
        let bits = |line: &Value| (line["ids"].clone(), line["logits_hash"].clone());
        lines.iter().map(bits).collect::<Vec<_>>()
    };
    assert_eq!(batch(ways[1]), batch(&[]));
}

#[test]
fn a_draft_model_that_is_missing_or_that_nobody_asks_is_a_wrong_command_line() {
    let other = llama_gqa();
    let args = ["--model", other.to_str().unwrap(), "--speculate", "draft"];
    fail(CACHED, &args, 2, "no draft model is bundled for this model");
    let draft = common::ember();
    let args = ["--draft", draft.to_str().unwrap()];
    fail(CACHED, &args, 2, "add `--speculate draft`");
    let args = ["--speculate", "draft", "--draft", other.to_str().unwrap()];
    fail(CACHED, &args, 2, "the draft model has a vocabulary of");
}

#[test]
fn what_compares_loops_refuses_to_guess() {
    for name in [CACHED, BATCHING] {
        for flags in [
            ["--speculate", "lookup"],
            ["--draft", "models/ember"],
            ["--draft-tokens", "3"],
        ] {
            fail_in_clap(name, &["--compare", flags[0], flags[1]], flags[0]);
        }
    }
}
