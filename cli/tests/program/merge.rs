//! `slowburn merge`, and texts with adapters.

use std::path::Path;

use super::{pipe, succeed};

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/adapters");
    folder.join(name).to_string_lossy().into_owned()
}

fn story(flags: &[&str]) -> String {
    let run = [
        "run",
        "--device",
        "cpu",
        "--max-tokens",
        "12",
        "--temperature",
        "0",
    ];
    succeed(&[&run, flags].concat(), "").stdout
}

#[test]
fn a_merged_model_tells_what_the_adapted_one_tells() {
    let adapter = fixture("ember");
    let (tale, other) = (format!("tale={adapter}"), format!("other={adapter}"));
    let adapted = story(&["--lora", &tale]);
    assert_ne!(adapted, story(&[]));
    assert_eq!(adapted, story(&["--lora", &other, "--lora", &tale, "--adapter", "tale"]));

    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("merged").to_string_lossy().into_owned();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/ember");
    let merge = [
        "merge",
        "--model",
        &model.to_string_lossy(),
        "--lora",
        &adapter,
        "--out",
        &out,
    ];
    succeed(&merge, "");
    assert_eq!(adapted, story(&["--model", &out, "--dtype", "f32"]));
    // A second time, there is a model already.
    assert_eq!(pipe(&merge, "").code, Some(1));
}

#[test]
fn an_adapter_that_is_not_there_is_named() {
    let tale = format!("tale={}", fixture("ember"));
    let outcome = pipe(&["run", "--lora", &tale, "--adapter", "saga"], "");
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("there is no adapter \"saga\": take one of tale"),
        "{}",
        outcome.stderr
    );
    let outcome = pipe(&["run", "--lora", "tale"], "");
    assert!(outcome.stderr.contains("a name and a folder are needed"), "{}", outcome.stderr);
}
