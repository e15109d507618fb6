//! `cargo xtask exercises verify`: tests the tests.
//!
//! Stubs, answers and variants are mounted in one package, and compiled at once. Of these, `cargo clippy
//! --workspace --all-targets` checks the answers, and beneath them the suites.
//!
//! Stubs need not be tested against each other's suites, because no stub, solution or suite may
//! refer to another exercise, which `source` checks.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail, ensure};
use clap::Args;
use exercises_runner::failure::{Failure, sort_as_in_suite};
use exercises_runner::manifest::{Exercise, Kind, Manifest, project_root};
use exercises_runner::test_binary::{Build, Ending, LIMIT, Outcome, Progress, TestBinary};
use rayon::prelude::*;

use super::edits::{self, Variant};
use super::{layout, source};

/// How long the message of a failure may be.
const LINES: usize = 20;

/// How long a line of it may be.
const CHARACTERS: usize = 200;

#[derive(Args)]
pub struct VerifyArgs {
    /// Only these exercises
    exercises: Vec<String>,
    /// Show what a learner sees first of each wrong answer, where that has no word of its `why`
    #[arg(long)]
    other_words: bool,
}

pub fn run(args: &VerifyArgs) -> Result<()> {
    let root = project_root()?;
    let manifest = Manifest::read(&root)?;
    let exercises: Vec<&Exercise> = match args.exercises.as_slice() {
        [] => manifest.exercises.iter().collect(),
        names => names.iter().map(|name| manifest.find(name)).collect::<Result<_>>()?,
    };

    // Checks without a build come first.
    let mut problems = layout::strays(&root, &manifest)?;
    for exercise in &exercises {
        let mut found = layout::problems(&root, exercise)?;
        if found.is_empty() {
            found = source::problems(&root, exercise)?;
        }
        problems.extend(found.iter().map(|problem| format!("{}: {problem}", exercise.name)));
    }
    end(&problems)?;
    for exercise in &exercises {
        problems.extend(formatting(&root, exercise)?);
    }
    end(&problems)?;

    let only: Vec<&str> = args.exercises.iter().map(String::as_str).collect();
    let tests = build(&root, &only)?;

    println!(
        "{:<28}{:>7}{:>15}{:>10}{:>17}{:>17}{:>13}",
        "exercise",
        "tests",
        "stub fails",
        "solution",
        "wrong rejected",
        "right accepted",
        "other words"
    );
    for exercise in &exercises {
        let mut other_words = Vec::new();
        let (row, found) = check(&root, exercise, &tests, &mut other_words)?;
        println!("{row}{:>13}", other_words.len());
        if args.other_words {
            other_words.iter().for_each(|told| println!("\n{told}\n"));
        }
        problems.extend(found.iter().map(|problem| format!("{}: {problem}", exercise.name)));
    }
    end(&problems)?;
    println!("\n{} exercises: all is as it must be", exercises.len());
    Ok(())
}

fn end(problems: &[String]) -> Result<()> {
    ensure!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
    Ok(())
}

/// Runs the suite of one exercise against its stub, its solution and its variants. Returns a table
/// row and the problems. Wrong answers of which the first message has no word are told too.
fn check(
    root: &Path,
    exercise: &Exercise,
    tests: &TestBinary,
    in_other_words: &mut Vec<String>,
) -> Result<(String, Vec<String>)> {
    let mut problems = Vec::new();
    let (chapter, name) = (exercise.chapter.module(), &exercise.name);
    let suite = fs::read_to_string(root.join(exercise.suite()))?;
    let run = |answer: &str| tests.run(&format!("{chapter}::{name}::{answer}::{name}_tests::"));

    let stub = run("stub")?;
    let count = stub.passed.len() + stub.failed.len();
    problems.extend(problem_of_stub(exercise.kind, &stub));
    // A `todo!()` stands for whatever panics in an answer.
    let untold = stub.failed.iter().filter(|f| f.is_todo() && !f.message.contains("rule: "));
    problems.extend(untold.map(|f| format!("a panic in {} is told without a rule", f.name())));

    let solution = run("answer")?;
    if !solution.all_pass() {
        problems.push(format!("the solution fails:\n{}", shown(&solution)));
    }

    let (mut rejected, mut wrong, mut accepted, mut right) = (0, 0, 0, 0);
    // Some never end, and are waited for: at once, and not one after another.
    let variants = edits::variants(root, chapter, name)?;
    let outcomes: Vec<Outcome> =
        variants.par_iter().map(|variant| run(&variant.name)).collect::<Result<_>>()?;
    for (variant, outcome) in variants.iter().zip(outcomes) {
        if variant.is_right() {
            right += 1;
            accepted += usize::from(outcome.all_pass());
            if !outcome.all_pass() {
                problems.push(format!("{} is rejected:\n{}", variant.name, shown(&outcome)));
            }
        } else {
            wrong += 1;
            rejected += usize::from(!outcome.all_pass());
            if outcome.all_pass() {
                problems.push(format!("{} is accepted: {}", variant.name, variant.why));
            }
            let found = problems_of_messages(&outcome.failed, &suite, variant);
            in_other_words.extend(other_words(&outcome.failed, &suite, variant));
            problems.extend(found.iter().map(|found| format!("{}: {found}", variant.name)));
        }
    }
    let row = format!(
        "{:<28}{count:>7}{:>15}{:>10}{:>17}{:>17}",
        exercise.name,
        format!("{}/{count}", stub.failed.len()),
        if solution.all_pass() {
            "passes"
        } else {
            "FAILS"
        },
        format!("{rejected}/{wrong}"),
        format!("{accepted}/{right}")
    );
    Ok((row, problems))
}

/// A message that nobody would read, and a first one that does not say what it must.
fn problems_of_messages(failed: &[Failure], suite: &str, variant: &Variant) -> Vec<String> {
    let mut problems = Vec::new();
    for failure in failed {
        let lines = failure.message.lines().count();
        if lines > LINES {
            problems.push(format!("{} has {lines} lines, more than {LINES}", failure.name()));
        }
        let longest = failure.message.lines().map(|line| line.chars().count()).max();
        if longest > Some(CHARACTERS) {
            let line = format!("a line of more than {CHARACTERS} characters");
            problems.push(format!("{} has {line}", failure.name()));
        }
    }
    if let (Some(first), Some(says)) = (first(failed, suite), &variant.says)
        && !first.message.contains(says)
    {
        problems.push(format!("the first message does not hold {says:?}:\n{}", first.message));
    }
    problems
}

/// The first message, where it has no word of the mistake: it may be said in other words, or mislead.
fn other_words(failed: &[Failure], suite: &str, variant: &Variant) -> Option<String> {
    let first = first(failed, suite)?;
    let has_a_word = has_a_word_of(&without_input(&first.message), &variant.why);
    (variant.says.is_none() && !has_a_word)
        .then(|| format!("{}: {}\n{}", variant.name, variant.why, first.message))
}

/// What the runner shows. Limits come when nothing else fails.
fn first(failed: &[Failure], suite: &str) -> Option<Failure> {
    let mut failed = failed.to_vec();
    sort_as_in_suite(&mut failed, suite);
    let idea = failed.iter().find(|failure| !failure.is_limit());
    idea.or(failed.first()).cloned()
}

/// A message without the place of the panic and what was given: any answer would have these words.
fn without_input(message: &str) -> String {
    let told = message.split_once("rule:").map_or(message, |(_, told)| told);
    match (told.split_once("\ngiven:"), told.split_once("\nexpected:")) {
        (Some((rule, _)), Some((_, result))) => format!("{rule}\n{result}"),
        _ => told.to_owned(),
    }
}

/// Whether a text has a word of another, or one that begins as it does. Words below four letters, and
/// those that say nothing, don't count.
fn has_a_word_of(text: &str, other: &str) -> bool {
    const SAY_NOTHING: &str = "that this with from each also only into their when where other than then \
                               they there which what whose behind before after have been more most same \
                               instead every";
    let text = text.to_lowercase();
    let words = other.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let mut words = words.filter(|word| word.len() >= 4);
    words.any(|word| {
        let beginning: String = word.chars().take(5).collect();
        !SAY_NOTHING.split_whitespace().any(|other| other == word) && text.contains(&beginning)
    })
}

/// A stub's tests must terminate and fail: all of them for a missing body, at least one for a bug.
fn problem_of_stub(kind: Kind, stub: &Outcome) -> Option<String> {
    match (&stub.ending, kind) {
        (Ending::TimedOut, _) => Some("the tests of the stub hang".into()),
        (Ending::OutOfMemory, _) => Some("the tests of the stub take too much memory".into()),
        (Ending::Crashed(said), _) => Some(format!("the tests of the stub crash: {said}")),
        (Ending::Regular, Kind::Write) if !stub.passed.is_empty() => {
            Some(format!("the stub passes {}", stub.passed.join(", ")))
        }
        (Ending::Regular, Kind::BugHunt) if stub.failed.is_empty() => {
            Some("no test sees the bug".into())
        }
        (Ending::Regular, Kind::Write | Kind::BugHunt) => None,
    }
}

fn shown(outcome: &Outcome) -> String {
    match &outcome.ending {
        Ending::Regular => outcome.output.clone(),
        Ending::TimedOut => format!("killed after {} s\n{}", LIMIT.as_secs(), outcome.output),
        Ending::OutOfMemory => format!("out of memory\n{}", outcome.output),
        Ending::Crashed(said) => format!("crashed: {said}\n{}", outcome.output),
    }
}

fn build(root: &Path, only: &[&str]) -> Result<TestBinary> {
    match TestBinary::build(root, "solutions", only, Progress::Shown, false)? {
        Build::Ready(binary) => Ok(binary),
        Build::Broken(errors) => {
            let errors: Vec<String> = errors.into_iter().map(|error| error.text).collect();
            bail!("the variants do not build:\n{}", errors.join("\n"))
        }
    }
}

/// Formatted separately, because rustfmt does not find variants from their package's root. What is
/// made of edits is read by nobody, and need not be formatted.
fn formatting(root: &Path, exercise: &Exercise) -> Result<Vec<String>> {
    let mut files = vec![
        root.join(exercise.file()),
        root.join(exercise.suite()),
        root.join(exercise.solution()),
    ];
    let variants = edits::variants(root, exercise.chapter.module(), &exercise.name)?;
    files.extend(variants.into_iter().filter_map(|variant| variant.file));
    let output = Command::new("rustfmt")
        .args(["--check", "--files-with-diff", "--edition", "2024"])
        .args(&files)
        .current_dir(root)
        .output()?;
    let listed = String::from_utf8_lossy(&output.stdout);
    let unformatted = listed.lines().map(|file| format!("rustfmt would change {file}"));
    let mut problems: Vec<String> = unformatted.collect();
    if !output.status.success() && problems.is_empty() {
        problems.push(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(passed: usize, failed: usize, ending: Ending) -> Outcome {
        let failure = Failure { test: "a".into(), message: String::new() };
        Outcome {
            passed: vec!["a".into(); passed],
            failed: vec![failure; failed],
            ending,
            output: String::new(),
        }
    }

    #[test]
    fn a_stub_fails_all_its_tests_and_a_bug_hunt_at_least_one() {
        let problem =
            |kind, passed, failed| problem_of_stub(kind, &outcome(passed, failed, Ending::Regular));
        assert_eq!(problem(Kind::Write, 0, 3), None);
        assert_eq!(problem(Kind::BugHunt, 2, 1), None);
        assert!(problem(Kind::Write, 1, 2).unwrap().contains("the stub passes a"));
        assert!(problem(Kind::BugHunt, 3, 0).unwrap().contains("no test sees the bug"));
    }

    #[test]
    fn a_message_is_short_and_the_first_one_says_what_it_must() {
        let failure = |name: &str, message: &str| Failure {
            test: format!("a::b_tests::{name}"),
            message: message.into(),
        };
        let suite = "fn limit_great() {} fn second() {} fn first() {}";
        let failed = [
            failure("limit_great", "rule: c"),
            failure("first", "rule: a"),
        ];
        let variant = |says: Option<&str>, why: &str| Variant {
            name: "wrong_a".into(),
            why: why.into(),
            says: says.map(String::from),
            text: String::new(),
            file: None,
        };
        let problems = |failed: &[Failure], says| {
            problems_of_messages(failed, suite, &variant(Some(says), ""))
        };
        assert_eq!(problems(&failed, "a"), Vec::<String>::new());
        assert_eq!(problems(&failed[..1], "c"), Vec::<String>::new());
        assert_eq!(problems(&failed, "c").len(), 1);
        let long = [
            failure("first", &"x\n".repeat(21)),
            failure("second", &"x".repeat(201)),
        ];
        assert_eq!(
            problems_of_messages(&long, suite, &variant(Some("x"), "")),
            [
                "first has 21 lines, more than 20",
                "second has a line of more than 200 characters"
            ]
        );
    }

    #[test]
    fn the_first_message_has_a_word_of_the_mistake() {
        let message = "rule: logits are wanted with the last token of a sequence";
        assert!(has_a_word_of(message, "Wants the logits of each chunk."));
        assert!(!has_a_word_of(message, "Admits one at most, and the rest waits."));
        let with_input = "at a.rs:1\nrule: ends\ngiven:\n  budget = 1\nexpected:\n  1";
        assert_eq!(without_input(with_input), " ends\n\n  1");
        // Not by a word that every sentence has.
        assert!(!has_a_word_of(message, "The budget is shared with them."));
    }

    #[test]
    fn a_stub_that_hangs_or_crashes_is_a_problem_and_no_answer_passes_so() {
        for ending in [
            Ending::TimedOut,
            Ending::OutOfMemory,
            Ending::Crashed("overflow".into()),
        ] {
            let outcome = outcome(2, 0, ending);
            assert!(!outcome.all_pass());
            assert!(problem_of_stub(Kind::Write, &outcome).is_some());
        }
    }
}
