//! `15_constrained`, `--regex` and `--choice`.

use super::*;

const CONSTRAINED: &str = "15_constrained";

#[test]
fn each_step_shows_what_was_allowed_and_the_text_is_of_the_form() {
    let report = succeed_in_json(CONSTRAINED, &["--seed", "3"]);
    let text = report["text"].as_str().unwrap();
    let animals =
        ["cat", "dog", "fox"].map(|a| format!("Once upon a time, there was a {a} called "));
    assert!(
        animals.iter().any(|start| text.starts_with(start)) && text.ends_with('.'),
        "{text}"
    );
    assert_eq!(report["finish_reason"], "eos");
    let steps = report["steps"].as_array().unwrap();
    assert_eq!(steps.len(), ids(&report).len());
    for (step, id) in steps.iter().zip(ids(&report)) {
        assert_eq!(step["id"], id);
        let allowed = step["allowed"].as_u64().unwrap();
        assert!((1..2048).contains(&allowed));
        assert!(step["share"].as_f64().unwrap() <= 1.001);
    }
    let shown = succeed(CONSTRAINED, &["--seed", "3", "--measure"]);
    for part in [
        "of 2048 tokens",
        text,
        "which match as a whole",
        "mask, a known one",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn no_other_names_occur() {
    let flags = [
        "--name",
        "Mira",
        "--name",
        "Tobin",
        "--max-tokens",
        "150",
        "--seed",
        "5",
    ];
    let report = succeed_in_json(CONSTRAINED, &flags);
    let text = report["text"].as_str().unwrap().strip_prefix("Once upon a time").unwrap();
    let words = text.split(|c: char| !c.is_ascii_alphabetic());
    let inside = |word: &&str| {
        let capitals = word.chars().skip(1).filter(char::is_ascii_uppercase).count();
        capitals > 0 || ["Mia", "Tom", "Sam", "Lily", "Ben"].contains(word)
    };
    assert_eq!(words.filter(inside).collect::<Vec<_>>(), Vec::<&str>::new(), "{text}");
    fail_in_clap(CONSTRAINED, &["--name", "Mira", "--regex", "a"], "--regex");
}

#[test]
fn a_constraint_is_kept_alone_in_a_batch_and_guessed_ahead() {
    let prompt = ["--prompt", "Was it a cat or a dog? It was a", "--seed", "4"];
    let choice = ["--choice", " small cat", "--choice", " small dog"];
    let flags = [&prompt[..], &choice].concat();
    let plain = succeed_in_json(CACHED, &flags);
    let text = plain["text"].as_str().unwrap();
    assert!(text == " small cat" || text == " small dog", "{text}");
    let guessed = succeed_in_json(CACHED, &[&flags[..], &["--speculate", "lookup"]].concat());
    assert_eq!(guessed["ids"], plain["ids"]);
    assert_eq!(guessed["logits_hash"], plain["logits_hash"]);
    assert_eq!(lines(BATCHING, &flags)[0]["ids"], plain["ids"]);
}

#[test]
fn a_healed_prompt_lacks_its_last_token_and_the_text_begins_with_it() {
    let flags = [
        "--prompt",
        "There was a ",
        "--temperature",
        "0",
        "--max-tokens",
        "5",
    ];
    let plain = succeed_in_json(CACHED, &flags);
    let healed = succeed_in_json(CACHED, &[&flags[..], &["--heal"]].concat());
    let prompt = |report: &Value| report["prompt_ids"].as_array().unwrap().clone();
    assert_eq!(prompt(&healed), prompt(&plain)[..prompt(&plain).len() - 1]);
    assert!(healed["text"].as_str().unwrap().starts_with(' '), "{healed}");
    let guessed = [&flags[..], &["--heal", "--speculate", "lookup"]].concat();
    assert_eq!(succeed_in_json(CACHED, &guessed)["logits_hash"], healed["logits_hash"]);
    let bound = [
        &flags[..],
        &["--heal", "--choice", "fox", "--choice", "cat"],
    ]
    .concat();
    let text = succeed_in_json(CACHED, &bound)["text"].clone();
    assert!(text == " fox" || text == " cat", "{text}");
    fail_in_clap(CACHED, &["--heal", "--compare"], "--compare");
}

#[test]
fn an_expression_that_cannot_be_used_is_a_wrong_command_line() {
    for name in [CACHED, BATCHING, CONSTRAINED] {
        fail(name, &["--regex", "a("], 2, "character 2: a `(` has no `)`");
        fail(name, &["--regex", "a$b"], 2, "the grammar allows no text");
        fail_in_clap(name, &["--regex", "a", "--choice", "b"], "--choice");
    }
    fail_in_clap(CACHED, &["--regex", "a", "--compare"], "--compare");
}

/// A file that is gone at the end.
fn file(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

#[test]
fn a_schema_is_kept_or_the_feature_is_named_that_it_needs() {
    let schema = file(r#"{"enum": ["a small fox", {"cats": [1, 2]}]}"#);
    let lark = file("start: \" a \" WORD\nWORD: \"cat\" | \"dog\"");
    for name in [CACHED, CONSTRAINED] {
        for (flag, file) in [("--json-schema", &schema), ("--lark", &lark)] {
            let flags = [flag, file.path().to_str().unwrap()];
            let outcome = run(name, &[&flags[..], &["--json", "--prompt", "It was"]].concat());
            if outcome.code == Some(0) {
                let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
                let text = report["text"].as_str().unwrap();
                let texts = [
                    " a cat",
                    " a dog",
                    r#""a small fox""#,
                    r#"{"cats":[1,2]}"#,
                    r#"{"cats": [1, 2]}"#,
                ];
                assert!(texts.iter().any(|expected| text.ends_with(expected)), "{text}");
            } else {
                assert_eq!(outcome.code, Some(2));
                assert!(outcome.stderr.contains("(add `--features schema` to the cargo command)"));
            }
        }
        fail(
            name,
            &["--json-schema", file("{").path().to_str().unwrap()],
            1,
            "ends in the middle",
        );
        fail(name, &["--lark", "no/such/file"], 1, "no/such/file");
        // What was cut off would be called wrong.
        let long = file(&format!("[{}]", "1,".repeat(1 << 19)));
        for flag in ["--json-schema", "--lark"] {
            fail(name, &[flag, long.path().to_str().unwrap()], 1, "more than 1048576 bytes");
        }
        fail_in_clap(name, &["--lark", "a", "--json-schema", "b"], "--lark");
    }
}
