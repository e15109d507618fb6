//! Which parts of the engine are the learner's, and what is said of the story.

use crate::small_project::SmallProject;

const ROPE: &str = "exercises/src/model/rope.rs";
const NUCLEUS: &str = "exercises/src/top_p/nucleus.rs";
const SPLIT_HEADS: &str = "exercises/src/model/split_heads.rs";

/// The line of the table with this exercise.
fn line<'a>(text: &'a str, exercise: &str) -> &'a str {
    let line = text.lines().find(|line| line.contains(&format!(" {exercise} ")));
    line.unwrap_or_else(|| panic!("no line with {exercise} in\n{text}"))
}

#[test]
fn with_stubs_all_parts_are_the_books_and_no_tests_are_built() {
    let project = SmallProject::with_an_engine();
    let (success, text) = project.run(&["engine"]);
    assert!(success, "{text}");
    assert!(text.contains("0 of 3 parts are yours"), "{text}");
    assert!(line(&text, "rope").ends_with(" the book's"), "{text}");
    assert!(text.contains("\na story\n"), "{text}");
    let builds = project.builds();
    let builds: Vec<&str> = builds.lines().collect();
    assert!(
        builds[0].starts_with("rustc -p your-engine --bin your-engine --message-format"),
        "{builds:?}"
    );
    assert_eq!(builds[1], "yours: ");
    assert_eq!(builds.len(), 2);
}

#[test]
fn what_passes_takes_over_and_what_fails_does_not() {
    let project = SmallProject::with_an_engine();
    project.write(ROPE, "right");
    project.write(NUCLEUS, "wrong");
    let (success, text) = project.run(&["engine"]);
    assert!(success, "{text}");
    assert!(text.contains("1 of 3 parts are yours"), "{text}");
    assert!(line(&text, "rope").ends_with(" yours"), "{text}");
    assert!(
        line(&text, "nucleus").ends_with("the book's: the tests of yours fail"),
        "{text}"
    );
    assert!(project.builds().ends_with("yours: rope\n"), "{}", project.builds());
    // Checked once.
    project.run(&["engine"]);
    assert_eq!(project.runs().matches("rope_tests").count(), 1);
}

#[test]
fn a_bug_hunt_that_nobody_has_touched_is_the_books() {
    let project = SmallProject::with_an_engine();
    let manifest = project.read("exercises/info.toml");
    let hunted = manifest.replacen(
        "title = \"About rope\"",
        "title = \"About rope\"\nkind = \"bug_hunt\"",
        1,
    );
    project.write("exercises/info.toml", &hunted);
    project.write(ROPE, "wrong");
    let (_, text) = project.run(&["engine"]);
    assert!(line(&text, "rope").ends_with(" the book's"), "{text}");
    project.write(ROPE, "still wrong");
    let (_, text) = project.run(&["engine"]);
    assert!(line(&text, "rope").ends_with("the book's: the tests of yours fail"), "{text}");
}

#[test]
fn the_figure_of_the_chapter_is_drawn_with_what_is_yours() {
    let project = SmallProject::with_an_engine();
    let (_, text) = project.run(&["engine"]);
    assert!(!text.contains("figure") && !project.path("target/engine-parts.svg").exists());
    project.write(ROPE, "right");
    let (_, text) = project.run(&["engine"]);
    assert!(text.contains("with your parts marked: target/engine-parts.svg\n"), "{text}");
    let figure = project.read("target/engine-parts.svg");
    assert!(figure.starts_with("<svg xmlns="), "{figure}");
    assert!(figure.contains("<tspan class=\"yours\" data-part=\"rope\">rope<"), "{figure}");
    assert!(figure.contains(".fig { width: 100%; }") && figure.trim_end().ends_with("</svg>"));
}

#[test]
fn what_serves_gets_its_address_and_says_nothing_before_it() {
    let project = SmallProject::with_an_engine();
    project.write(ROPE, "right");
    project.run(&["check", "rope"]);
    let (success, text) = project.run(&["engine", "--serve"]);
    assert!(success && text.ends_with("a story --serve 127.0.0.1:8080\n"), "{text}");
    assert!(!text.contains("whose"), "{text}");
    let (_, text) = project.run(&["engine", "--serve", "127.0.0.1:0"]);
    assert!(text.contains("a story --serve 127.0.0.1:0\n"), "{text}");
    let (success, text) = project.run(&["engine", "--serve", "--seed", "7"]);
    assert!(!success && text.contains("cannot be used with"), "{text}");
}

#[test]
fn what_fails_takes_over_where_it_is_tried() {
    let project = SmallProject::with_an_engine();
    project.write(ROPE, "odd");
    let (success, text) = project.run(&["engine", "--try", "rope"]);
    assert!(!success, "{text}");
    assert!(line(&text, "rope").ends_with("yours, though its tests do not pass"), "{text}");
    assert!(project.builds().ends_with("yours: rope\n"));
    assert!(text.contains("broken:\n  cargo run -p exercises -- check rope\n"), "{text}");
    // A story can be right with a function that is not.
    project.write(ROPE, "wrong");
    let (success, text) = project.run(&["engine", "--try", "rope"]);
    assert!(success && text.contains("And yet the tests of rope fail"), "{text}");
}

#[test]
fn a_story_that_differs_though_all_tests_pass_is_said() {
    let project = SmallProject::with_an_engine();
    project.write(ROPE, "right odd");
    let (success, text) = project.run(&["engine"]);
    assert!(!success && text.contains("All your parts pass their tests."), "{text}");
}

#[test]
fn an_engine_that_crashes_is_told_from_one_that_differs() {
    let project = SmallProject::with_an_engine();
    project.write(ROPE, "right endless");
    let (success, text) = project.run(&["engine"]);
    assert!(!success && text.contains("The engine ended in the middle"), "{text}");
}

#[test]
fn an_engine_that_refuses_what_was_asked_says_nothing_of_the_parts() {
    let project = SmallProject::with_an_engine();
    for (rope, arguments) in [
        ("right refused", &["engine"][..]),
        ("refused", &["engine", "--try", "rope"][..]),
    ] {
        project.write(ROPE, rope);
        let (success, text) = project.run(arguments);
        assert!(!success && text.contains("error: the prompt is too long\n"), "{text}");
        for said in [
            "All your parts",
            "Which rule is broken",
            "ended in the middle",
        ] {
            assert!(!text.contains(said), "{said:?} is in\n{text}");
        }
    }
}

#[test]
fn a_part_with_tensors_needs_burn() {
    let project = SmallProject::with_an_engine();
    project.write(SPLIT_HEADS, "right");
    project.write(ROPE, "right");
    project.write(NUCLEUS, "right");
    let (success, text) = project.run(&["engine"]);
    assert!(success && text.contains("The engine is your own"), "{text}");
    let builds = project.builds();
    assert!(
        builds.contains("\nrustc -p your-engine --bin your-engine --features=tensors "),
        "{builds}"
    );
    assert!(builds.ends_with("yours: split_heads,rope,nucleus\n"), "{builds}");
}

#[test]
fn where_an_exercise_does_not_compile_what_passed_before_is_still_yours() {
    let project = SmallProject::with_an_engine();
    project.write(ROPE, "right");
    project.run(&["check", "rope"]);
    project.write(NUCLEUS, "broken");
    let (_, text) = project.run(&["engine"]);
    assert!(line(&text, "rope").ends_with(" yours"), "{text}");
    assert!(line(&text, "nucleus").ends_with("yours is not checked"), "{text}");
    assert!(text.contains("nucleus.rs does not compile"), "{text}");
    // The engine is built without that file.
    assert!(text.contains("\na story\n"), "{text}");
}

#[test]
fn flags_are_handed_on_and_other_exercises_refused() {
    let project = SmallProject::with_an_engine();
    let (_, text) = project.run(&["engine", "--prompt", "The storm", "--seed", "7"]);
    assert!(text.contains("a story --prompt The storm --seed 7"), "{text}");
    let (_, text) = project.run(&["engine", "--speculate", "--seed", "7"]);
    assert!(text.contains("a story --seed 7 --speculate\n"), "{text}");
    let (_, text) = project.run(&["engine", "--speed"]);
    assert!(text.contains("a story --speed\n"), "{text}");
    let (_, text) = project.run(&["engine", "--replicas"]);
    assert!(text.contains("a story --replicas\n"), "{text}");
    let (_, text) = project.run(&["engine", "--regex", " (cat|dog)"]);
    assert!(text.contains("a story --regex  (cat|dog)\n"), "{text}");
    let (success, text) = project.run(&["engine", "--speculate", "--regex", "a"]);
    assert!(!success && text.contains("cannot be used with"), "{text}");
    let (success, text) = project.run(&["engine", "--try", "ties"]);
    assert!(!success && text.contains("`ties` is no part of the engine"), "{text}");
}

#[test]
fn other_commands_say_which_exercises_are_parts() {
    let project = SmallProject::with_an_engine();
    project.write(ROPE, "right");
    let (_, text) = project.run(&["check", "rope"]);
    assert!(text.contains("It is a part of your engine now"), "{text}");
    let (_, text) = project.run(&["list"]);
    assert!(line(&text, "rope").ends_with("(short path, engine)"), "{text}");
    assert!(!line(&text, "ties").contains("engine"), "{text}");
}
