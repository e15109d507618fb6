//! What each command does, and what it leaves alone.

use crate::small_project::{STUB, SmallProject};

const TIES: &str = "exercises/src/top_k/ties.rs";
const COOLS: &str = "exercises/src/temperature/cools.rs";

#[test]
fn the_overview_names_the_next_exercise_and_builds_nothing_for_stubs() {
    let project = SmallProject::new();
    let (success, text) = project.run(&[]);
    assert!(success, "{text}");
    for part in [
        "All tests fail at the start: that is expected",
        "0 of 2 exercises pass",
        "Next: About ties\n  src/top_k/ties.rs:4\n",
        "-- check ties ",
    ] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
    assert_eq!(project.runs(), "");
    // From the root, the path is another one.
    assert!(project.run_in(".", &[]).1.contains("  exercises/src/top_k/ties.rs:4\n"));
}

#[test]
fn the_overview_checks_what_changed_once() {
    let project = SmallProject::new();
    project.write(TIES, "right");
    let (_, text) = project.run(&[]);
    assert!(text.contains("✓ ties") && text.contains("1 of 2 exercises pass"), "{text}");
    assert!(text.contains("Next: About cools"), "{text}");
    assert_eq!(project.runs(), "top_k::ties_tests::\n");
    project.run(&[]);
    assert_eq!(project.runs(), "top_k::ties_tests::\n");
    // A suite that changed counts too.
    project.write("exercises/suite/top_k/ties.rs", "// more tests\n");
    project.run(&[]);
    assert_eq!(project.runs(), "top_k::ties_tests::\n".repeat(2));
}

#[test]
fn the_overview_sees_a_bug_hunt_that_was_mended_and_never_checked() {
    for with_git in [false, true] {
        let project = SmallProject::new();
        project.add_to_ties("kind = \"bug_hunt\"");
        project.write(TIES, "pub fn f() {}\n");
        if with_git {
            project.git(&["init", "--quiet"]);
            project.git(&["add", "."]);
            project.git(&["commit", "--quiet", "-m", "stubs"]);
        }
        project.run(&[]);
        assert_eq!(project.runs(), "", "nothing was mended");
        project.write(TIES, "right");
        let (_, text) = project.run(&[]);
        assert!(text.contains("✓ ties") && text.contains("1 of 2 exercises pass"), "{text}");
    }
}

#[test]
fn the_overview_is_about_a_file_that_holds_a_todo_in_a_comment_too() {
    let project = SmallProject::new();
    project.run(&[]);
    project.write(TIES, "right(); /* was todo!() */");
    assert!(project.run(&[]).1.contains("1 of 2 exercises pass"));
}

#[test]
fn next_is_in_the_chapter_that_was_worked_on_last() {
    let project = SmallProject::new();
    assert!(project.run(&[]).1.contains("Next: About ties"));
    for command in [["check", "cools"], ["hint", "cools"], ["reset", "cools"]] {
        project.run(&["check", "ties"]);
        assert!(project.run(&[]).1.contains("Next: About ties"));
        project.write(COOLS, "mine");
        project.run(&command);
        assert!(project.run(&[]).1.contains("Next: About cools"), "{command:?}");
        assert!(project.run(&["hint"]).1.contains("About cools"), "{command:?}");
    }
    // The path that is left out stays so.
    assert!(project.run(&["--short"]).1.contains("Next: About ties"));
    // What lies before comes last.
    project.write(COOLS, "right");
    assert!(project.run(&["check", "cools"]).1.contains("Next: About ties"));
}

#[test]
fn next_follows_a_file_that_was_saved() {
    let project = SmallProject::new();
    project.run(&["check", "ties"]);
    project.write(COOLS, "mine");
    let (_, text) = project.run(&[]);
    assert!(text.contains("✗ cools") && text.contains("Next: About cools"), "{text}");
}

#[test]
fn only_an_exercise_with_tensors_needs_burn() {
    let project = SmallProject::new();
    project.add_to_ties("tensors = true");
    project.run(&["check", "cools"]);
    assert!(project.builds().contains(" -p exercises --test exercises"));
    assert!(!project.builds().contains("tensor-exercises"));
    project.run(&["check", "ties"]);
    assert!(project.builds().contains(" -p tensor-exercises --test tensor-exercises"));
    project.write(TIES, "right");
    project.write(COOLS, "right");
    assert!(project.run(&["check"]).1.contains("2 of 2 exercises pass"));
}

#[test]
fn check_shows_the_rule_without_noise_and_fails() {
    let project = SmallProject::new();
    let (success, text) = project.run(&["check", "ties"]);
    assert!(!success);
    assert!(
        text.contains("✗ second\n\n    rule: it is right\n    given:\n      x = 1\n"),
        "{text}"
    );
    assert!(text.contains("✗ ties: 1 of 2 tests fail"), "{text}");
    for noise in [
        "panicked at",
        "RUST_BACKTRACE",
        "stdout ----",
        "test result",
    ] {
        assert!(!text.contains(noise), "{noise:?} is in\n{text}");
    }
    project.write(TIES, "right");
    let (success, text) = project.run(&["check", "ties"]);
    assert!(success && text.contains("✓ ties passes") && text.contains("ties.rs"), "{text}");
}

#[test]
fn check_of_all_has_a_line_for_each_and_fails_until_all_pass() {
    let project = SmallProject::new();
    project.write(TIES, "right");
    let (success, text) = project.run(&["check"]);
    assert!(!success && text.contains("1 of 2 exercises pass"), "{text}");
    assert!(text.contains("· 1 exercise is not begun"), "{text}");
    assert_eq!(project.runs(), "top_k::ties_tests::\n");
    project.write(COOLS, "wrong");
    let (_, text) = project.run(&["check"]);
    assert!(text.contains("✗ cools: 1 of 2 tests fail"), "{text}");
    assert!(project.run(&["check", "--short"]).0);
    project.write(COOLS, "right");
    assert!(project.run(&["check"]).0);
    assert!(project.run(&[]).1.contains("All exercises pass"));
}

#[test]
fn check_of_all_builds_burn_only_for_what_is_begun_and_keeps_results_as_they_come() {
    let project = SmallProject::new();
    project.add_to_ties("tensors = true");
    // What lies before it, with tensors, is not begun.
    project.write(COOLS, "right");
    project.run(&["check"]);
    assert!(!project.builds().contains("tensor-exercises"), "{}", project.builds());
    assert!(project.run(&["list"]).1.contains("✓ cools"));
    // The result of the first is kept, though the build of the second ends the command.
    project.write(COOLS, "right too");
    project.write(TIES, "right");
    project.write(
        "cargo",
        &project.read("cargo").replacen("echo", "case \"$*\" in *tensor-*) exit 3;; esac\necho", 1),
    );
    let (success, _) = project.run(&["check"]);
    assert!(!success);
    assert!(project.run(&["list"]).1.contains("✓ cools"));
}

#[test]
fn limits_are_a_second_stage() {
    let project = SmallProject::new();
    project.write(TIES, "limits");
    let (success, text) = project.run(&["check", "ties"]);
    assert!(!success && text.contains("✗ second\n\n    rule: it is right"), "{text}");
    assert!(!text.contains("✗ limit_great"), "{text}");
    assert!(
        text.contains("when the idea is right, there are its limits: limit_great"),
        "{text}"
    );
    project.write(TIES, "right but limits");
    let (success, text) = project.run(&["check", "ties"]);
    assert!(
        !success && text.contains("✗ limit_great\n\n    rule: no sum overflows"),
        "{text}"
    );
    assert!(
        text.contains("The idea is right. The second stage is left, its limits"),
        "{text}"
    );
}

#[test]
fn an_answer_that_takes_all_memory_is_told_so() {
    let project = SmallProject::new();
    project.write(TIES, "hungry");
    let (success, text) = project.run(&["check", "ties"]);
    assert!(!success, "{text}");
    for part in [
        "✗ ties: the tests take too much memory",
        "when they asked for more than 2 GB of memory: is there a loop that keeps pushing",
        "These had a result: first.",
    ] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
}

#[test]
fn a_crash_is_no_pass() {
    let project = SmallProject::new();
    // The later one comes after a test that failed.
    for (crash, had_a_result) in [("crash", "first."), ("late crash", "first, second.")] {
        project.write(TIES, crash);
        let (success, text) = project.run(&["check", "ties"]);
        assert!(!success && text.contains("ended in the middle"), "{text}");
        assert!(text.contains(&format!("These had a result: {had_a_result}")), "{text}");
        assert!(text.contains("stack overflow"), "{text}");
    }
}

#[test]
fn code_that_does_not_compile_is_shown_and_another_exercise_in_the_way_is_named() {
    let project = SmallProject::new();
    project.write(TIES, "broken");
    let (success, text) = project.run(&["check", "ties"]);
    assert!(!success && text.contains("error: broken here"), "{text}");
    assert!(text.contains("ties.rs does not compile") && !text.contains("reset"), "{text}");
    let (success, text) = project.run(&["check", "cools"]);
    assert!(!success && text.contains("ties.rs does not compile"), "{text}");
    assert!(text.contains("cargo run -p exercises -- reset ties"), "{text}");
    // The overview still shows where one is.
    assert!(project.run(&[]).1.contains("Next: About ties"));
}

#[test]
fn each_call_of_hint_shows_one_more() {
    let project = SmallProject::new();
    for (shown, hidden) in [
        (1, "second"),
        (2, "third"),
        (3, "The same command"),
        (3, "Hint 4"),
    ] {
        let (success, text) = project.run(&["hint", "ties"]);
        assert!(success);
        for hint in &["first", "second", "third"][..shown] {
            assert!(text.contains(&format!("\n  {hint}\n")), "{text}");
        }
        assert!(!text.contains(hidden), "{text}");
    }
    let (_, text) = project.run(&["hint", "cools"]);
    assert!(text.contains("Hint 1 of 3") && !text.contains("Hint 2"), "{text}");
}

#[test]
fn a_hint_without_a_name_is_for_the_next_exercise() {
    let project = SmallProject::new();
    assert!(project.run(&["hint"]).1.contains("About ties"));
    project.write(TIES, "right");
    project.run(&["check", "ties"]);
    assert!(project.run(&["hint"]).1.contains("About cools"));
}

#[test]
fn a_list_in_a_pipe_has_no_escape_codes() {
    let project = SmallProject::new();
    project.write(TIES, "right");
    project.run(&["check", "ties"]);
    let (_, text) = project.run(&["list"]);
    assert!(!text.contains('\x1b'), "{text:?}");
    assert!(text.contains("✓ ties   easy    10 min  About ties"), "{text}");
    assert!(text.contains("· cools"), "{text}");
    let (_, short) = project.run(&["list", "--short"]);
    assert!(short.contains("ties") && !short.contains("cools"), "{short}");
}

#[test]
fn the_answer_is_shown_to_those_who_have_one_or_give_up() {
    let project = SmallProject::new();
    let (success, text) = project.run(&["solution", "ties"]);
    assert!(!success && text.contains("`ties` does not pass yet"), "{text}");
    assert!(text.contains("--give-up") && !text.contains("Why:"), "{text}");
    let (success, text) = project.run(&["solution", "ties", "--give-up"]);
    assert!(success && text.contains("\nWhy: it is right.\n"), "{text}");
    project.write(TIES, "right");
    let (success, text) = project.run(&["solution", "ties"]);
    assert!(success && text.contains("pub fn f() {}"), "{text}");
}

#[test]
fn an_answer_that_was_spoilt_after_it_passed_counts_as_not_passing() {
    let project = SmallProject::new();
    project.write(TIES, "right");
    assert!(project.run(&["check", "ties"]).0);
    project.write(TIES, "wrong");
    assert!(project.run(&["list"]).1.contains("? ties"));
    let (success, text) = project.run(&["solution", "ties"]);
    assert!(!success && !text.contains("Why:"), "{text}");
}

#[test]
fn reset_without_git_brings_back_the_first_version_and_keeps_all_later_ones() {
    let project = SmallProject::new();
    project.run(&[]);
    for (i, mine) in ["mine", "mine too"].iter().enumerate() {
        project.write(TIES, mine);
        let (success, text) = project.run(&["reset", "ties"]);
        assert!(success, "{text}");
        let backup = format!("exercises/.progress/backups/ties.{}.rs", i + 1);
        assert!(text.contains(&format!("ties.{}.rs", i + 1)), "{text}");
        assert_eq!(project.read(&backup), *mine);
        assert_eq!(project.read(TIES), STUB);
    }
    let (success, text) = project.run(&["reset", "ties"]);
    assert!(!success && text.contains("nothing to do"), "{text}");
}

#[test]
fn reset_with_git_takes_the_committed_version_or_an_older_one() {
    let project = SmallProject::new();
    project.git(&["init", "--quiet"]);
    project.git(&["add", "."]);
    project.git(&["commit", "--quiet", "-m", "stubs"]);
    project.write(TIES, "mine");
    assert!(project.run(&["reset", "ties"]).0);
    assert_eq!(project.read(TIES), STUB);

    project.write(TIES, "mine");
    project.git(&["commit", "--quiet", "-a", "-m", "my answer"]);
    let (success, text) = project.run(&["reset", "ties"]);
    assert!(!success && text.contains("--from COMMIT"), "{text}");
    assert!(project.run(&["reset", "ties", "--from", "HEAD~1"]).0);
    assert_eq!(project.read(TIES), STUB);

    project.write(TIES, "mine");
    let (success, text) = project.run(&["reset", "ties", "--from", "nowhere"]);
    assert!(!success && text.contains("git does not have"), "{text}");
    assert_eq!(project.read(TIES), "mine");
}

#[test]
fn a_damaged_state_is_put_aside_and_the_runner_starts_over() {
    let project = SmallProject::new();
    for (i, damaged) in ["exercise = 3", "[[", "\u{0}"].iter().enumerate() {
        project.write("exercises/.progress/progress.toml", damaged);
        let (success, text) = project.run(&["list"]);
        let aside = format!("exercises/.progress/damaged.{}.toml", i + 1);
        assert!(success && text.contains("is damaged") && text.contains(&aside), "{text}");
        assert_eq!(project.read(&aside), *damaged);
        assert!(!project.run(&["list"]).1.contains("damaged"));
    }
}

#[test]
fn a_damaged_state_is_said_too_where_a_command_only_changes_it() {
    let project = SmallProject::new();
    // Without git, a reset brings back what is there now.
    project.run(&[]);
    project.write(TIES, "mine");
    for command in [["check", "ties"], ["reset", "ties"]] {
        project.write("exercises/.progress/progress.toml", "[[");
        let (_, text) = project.run(&command);
        assert_eq!(text.matches("note: ").count(), 1, "{text}");
        assert!(text.contains("is damaged"), "{text}");
    }
}

#[test]
fn an_unknown_name_gets_the_nearest() {
    let project = SmallProject::new();
    let commands: [&[&str]; 4] = [
        &["check", "tie"],
        &["hint", "tie"],
        &["reset", "tie"],
        &["solution", "tie"],
    ];
    for command in commands {
        let (success, text) = project.run(command);
        assert!(!success && text.contains("no exercise `tie`. Did you mean `ties`?"), "{text}");
    }
    let (_, text) = project.run(&["check", "zzz"]);
    assert!(!text.contains("Did you mean"), "{text}");
}

#[test]
fn outside_the_project_the_error_says_what_to_do() {
    let project = SmallProject::new();
    let (success, text) = project.run_in("..", &["list"]);
    assert!(!success && text.contains("run this inside the project"), "{text}");
}
