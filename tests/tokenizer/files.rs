//! Files that describe a tokenizer which cannot work: each is refused, or fails when it is used,
//! with an error that names the file and says what is wrong with it.

use std::time::{Duration, Instant};

use slowburn::LoadError;

use super::*;
use crate::common::{is_line, use_tokenizer};

fn use_it(json: &str) -> slowburn::Result<()> {
    use_tokenizer(json.as_bytes(), "the tokenizer.json")
}

/// Using it fails within a moment, and the error says this.
#[track_caller]
fn assert_fails(json: &str, problem: &str) {
    let start = Instant::now();
    let error = use_it(json).unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, Error::Load(LoadError::Tokenizer { .. })), "{error:?}");
    assert!(message.starts_with("the tokenizer.json"), "{message}");
    assert!(message.contains(problem), "`{problem}` is not in: {message}");
    assert!(!message.contains('\n'), "{message}");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[track_caller]
fn assert_edit_fails(name: &str, field: &str, value: &Value, problem: &str) {
    assert_fails(&edited(name, |json| json[field] = value.clone()), problem);
}

#[test]
fn whole_files_work() {
    for name in ["byte-level", "sentencepiece"] {
        use_it(&edited(name, |_| ())).unwrap();
    }
}

/// Of all places, a file is most easily cut in its decoder: there the crate panics.
#[test]
fn a_file_that_ends_in_its_decoder() {
    let parts = r#"{"version": "1.0", "decoder": {"type": "ByteLevel", "add_prefix_space": true}"#;
    for end in r#"{"version": "1.0", "decoder": "#.len()..parts.len() {
        assert_fails(&parts[..end], "the text ends in the middle");
    }
}

#[test]
fn decoders_that_cannot_work() {
    let strip = json!({"type": "Strip", "content": " ", "start": 0, "stop": 1});
    assert_edit_fails("sentencepiece", "decoder", &strip, "in `decoder`, `stop`");
    let double = json!({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"});
    let doubles = json!({"type": "Sequence", "decoders": vec![double; 40]});
    assert_edit_fails("sentencepiece", "decoder", &doubles, "times longer");
    let spaces = json!({"type": "Sequence", "decoders": vec![json!({"type": "BPEDecoder", "suffix": ""}); 40]});
    assert_edit_fails("sentencepiece", "decoder", &spaces, "times longer");
    for other in [
        json!({}),
        json!([]),
        json!("x"),
        json!({"type": "Nothing"}),
        json!({"type": "Nothing\n\u{1b}"}),
    ] {
        assert_edit_fails("sentencepiece", "decoder", &other, "");
    }
}

#[test]
fn normalizers_that_cannot_work() {
    let replace = |pattern: Value, content: &str| json!({"type": "Replace", "pattern": pattern, "content": content});
    for pattern in [json!({"Regex": ""}), json!({"String": ""})] {
        assert_edit_fails("byte-level", "normalizer", &replace(pattern, "x"), "`pattern` is empty");
    }
    // It matches between any two letters too.
    let nothing = replace(json!({"Regex": "z*"}), &"x".repeat(200));
    assert_edit_fails("byte-level", "normalizer", &nothing, "times longer");
    let long = replace(json!({"String": "a"}), &"x".repeat(1 << 20));
    assert_edit_fails("byte-level", "normalizer", &long, "`content` has more than");
    let prepend = json!({"type": "Prepend", "prepend": "x".repeat(1 << 20)});
    assert_edit_fails("byte-level", "normalizer", &prepend, "`prepend` has more than");
    let double = replace(json!({"String": "a"}), "aa");
    let doubles = json!({"type": "Sequence", "normalizers": vec![double; 40]});
    assert_edit_fails("byte-level", "normalizer", &doubles, "times longer");
}

#[test]
fn tables_that_cannot_work() {
    let table = |base64: &str| json!({"type": "Precompiled", "precompiled_charsmap": base64});
    // It announces 4 GiB, for which 8.6 GB would be taken.
    assert_edit_fails(
        "byte-level",
        "normalizer",
        &table("/////w=="),
        "announces a table of 4294967295",
    );
    assert_edit_fails("byte-level", "normalizer", &table(""), "too short");
    // Four bytes of a table that lead out of it.
    assert_edit_fails("byte-level", "normalizer", &table("BAAAAP////8="), "");
    assert_edit_fails("byte-level", "normalizer", &table("no base64!"), "");
}

#[test]
fn pre_tokenizers_that_cannot_work() {
    let nothing = json!({"type": "FixedLength", "length": 0});
    assert_edit_fails("byte-level", "pre_tokenizer", &nothing, "`length` is 0");
    let inside = json!({"type": "Sequence", "pretokenizers": [nothing]});
    assert_edit_fails("byte-level", "pre_tokenizer", &inside, "in `pre_tokenizer`, `length` is 0");
}

#[test]
fn templates_that_cannot_work() {
    let template = |single: Value, special: Value| json!({"type": "TemplateProcessing", "single": single, "pair": [], "special_tokens": special});
    let text = json!({"Sequence": {"id": "A", "type_id": 0}});
    let token = json!({"SpecialToken": {"id": "<s>", "type_id": 0}});
    let unknown = template(json!([token, text]), json!({}));
    assert_edit_fails(
        "byte-level",
        "post_processor",
        &unknown,
        "\"<s>\" is not among `special_tokens`",
    );
    let second = template(json!([{"Sequence": {"id": "B", "type_id": 0}}]), json!({}));
    assert_edit_fails("byte-level", "post_processor", &second, "second text");
    let uneven = json!({"<s>": {"id": "<s>", "ids": [0, 1], "tokens": ["<s>"]}});
    let uneven = template(json!([token, text]), uneven);
    assert_edit_fails("byte-level", "post_processor", &uneven, "not as many ids as tokens");
    let many = json!({"<s>": {"id": "<s>", "ids": vec![0; 2000], "tokens": vec!["<s>"; 2000]}});
    let many = template(json!([token, text]), many);
    assert_edit_fails("byte-level", "post_processor", &many, "more than 1000 tokens");
    // Three parts, of which the next template knows nothing.
    let special = json!({"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}});
    let three = template(json!([token, text, token]), special);
    let twice = json!({"type": "Sequence", "processors": [three, three]});
    assert_edit_fails("byte-level", "post_processor", &twice, "`tokenizers` fails on it");
}

#[test]
fn models_that_cannot_work() {
    let prefix = edited("byte-level", |json| {
        json["model"]["continuing_subword_prefix"] = "a very long prefix".into();
    });
    assert_fails(&prefix, "");
    let merges = edited("byte-level", |json| json["model"]["merges"] = json!([["no", "such"]]));
    assert_fails(&merges, "");
    assert_edit_fails(
        "byte-level",
        "model",
        &json!({"type": "Unigram", "vocab": [], "unk_id": 3}),
        "",
    );
}

/// A message of `tokenizers` repeats what it could not read.
#[test]
fn what_the_file_says_stays_in_one_line() {
    let variant = json!({"type": format!("a\n\u{1b}[31m{}", "x".repeat(1 << 20))});
    for field in ["normalizer", "pre_tokenizer", "post_processor", "decoder"] {
        let json = edited("byte-level", |json| json[field] = variant.clone());
        let message = use_it(&json).unwrap_err().to_string();
        assert!(is_line(&message), "{message:?}");
    }
}
