//! The manifest is read, and what is wrong with one is said.

use exercises_runner::engine_parts::PARTS;
use exercises_runner::manifest::{Chapter, Manifest, project_root};

fn entry(name: &str, chapter: &str, level: u8, hints: &str) -> String {
    format!(
        "[[exercise]]\nname = {name:?}\nchapter = {chapter:?}\ntitle = \"A title\"\nlevel = {level}\nminutes = 10\nshort_path = true\nhints = {hints}\n"
    )
}

const HINTS: &str = "['a', 'b', 'c']";

fn error(text: &str) -> String {
    format!("{:#}", Manifest::parse(text).unwrap_err())
}

#[test]
fn the_names_of_an_exercise_follow_from_its_entry() {
    let manifest = Manifest::parse(&entry("ties", "top_k", 1, HINTS)).unwrap();
    let exercise = manifest.find("ties").unwrap();
    assert_eq!(exercise.file().to_str().unwrap(), "exercises/src/top_k/ties.rs");
    assert_eq!(exercise.tests(), "top_k::ties_tests::");
    assert_eq!(exercise.chapter.page(), "top-k");
    assert_eq!(exercise.level_in_words(), "easy");
}

#[test]
fn a_wrong_entry_is_named() {
    let twice = entry("ties", "top_k", 1, HINTS).repeat(2);
    assert!(error(&twice).contains("two exercises are named `ties`"));
    let order = entry("a", "top_p", 1, HINTS) + &entry("b", "top_k", 1, HINTS);
    assert!(error(&order).contains("`b` (top_k) must come before `a` (top_p)"));
    assert!(error(&entry("a", "topk", 1, HINTS)).contains("unknown variant `topk`"));
    assert!(error(&entry("a", "top_k", 4, HINTS)).contains("exercise `a`: `level` is 4"));
    assert!(error(&entry("Ties", "top_k", 1, HINTS)).contains("snake case"));
    assert!(error(&entry("a", "top_k", 1, "['a', 'b']")).contains("length 2"));
    assert!(error(&entry("a", "top_k", 1, "['a', ' ', 'c']")).contains("hint 2 is empty"));
    let unknown = Manifest::parse("exercise = []").unwrap();
    assert!(unknown.find("ties").is_err());
}

#[test]
fn chapters_are_read_by_the_names_of_their_modules() {
    for chapter in Chapter::ALL {
        let manifest = Manifest::parse(&entry("a", chapter.module(), 1, HINTS)).unwrap();
        assert_eq!(manifest.of_chapter(chapter).count(), 1);
    }
}

#[test]
fn the_parts_of_the_engine_are_exercises_as_the_manifest_has_them() {
    let manifest = Manifest::read(&project_root().unwrap()).unwrap();
    for part in PARTS {
        let exercise = manifest.find(part.exercise).unwrap();
        assert_eq!(exercise.chapter.module(), part.chapter, "{part:?}");
        assert_eq!(exercise.tensors, part.tensors, "{part:?}");
    }
}
