//! `cargo xtask exercises verify`: tests the tests.
//!
//! That a stub fails only its own tests needs no run: no stub, solution or suite may refer to
//! another exercise, which `source` checks.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Args;
use exercises_runner::manifest::{Exercise, Kind, Manifest, project_root};

use super::test_binary::{Outcome, TestBinary};
use super::{layout, source};

/// How long the tests of one answer may take. They take less than a second; a wrong answer may
/// never end.
const LIMIT: Duration = Duration::from_secs(30);

#[derive(Args)]
pub struct VerifyArgs {
    /// Only these exercises
    exercises: Vec<String>,
}

pub fn run(args: &VerifyArgs) -> Result<()> {
    let root = project_root()?;
    let manifest = Manifest::read(&root)?;
    let exercises: Vec<&Exercise> = match args.exercises.as_slice() {
        [] => manifest.exercises.iter().collect(),
        names => names.iter().map(|name| manifest.find(name)).collect::<Result<_>>()?,
    };

    // What can be seen without building comes first.
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

    let only = match exercises.as_slice() {
        [exercise] => Some(exercise.name.as_str()),
        _ => None,
    };
    clippy(&root)?;
    let stubs = TestBinary::build(&root, "exercises", None)?;
    let solutions = TestBinary::build(&root, "solutions", None)?;
    let variants = TestBinary::build(&root, "variants", only)?;

    println!(
        "{:<28}{:>7}{:>15}{:>10}{:>17}{:>17}",
        "exercise", "tests", "stub fails", "solution", "wrong rejected", "right accepted"
    );
    for exercise in &exercises {
        let (row, found) = check(&root, exercise, &stubs, &solutions, &variants)?;
        println!("{row}");
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

/// Runs the suite of one exercise against its stub, its solution and its variants. Returns a row
/// of the table, and what is wrong.
fn check(
    root: &Path,
    exercise: &Exercise,
    stubs: &TestBinary,
    solutions: &TestBinary,
    variants: &TestBinary,
) -> Result<(String, Vec<String>)> {
    let mut problems = Vec::new();
    let tests = exercise.tests();

    let stub = stubs.run(&tests, LIMIT)?;
    let count = stub.passed.len() + stub.failed.len();
    match exercise.kind {
        _ if stub.timed_out => problems.push("the tests of the stub hang".into()),
        Kind::Write if !stub.passed.is_empty() => {
            problems.push(format!("the stub passes {}", stub.passed.join(", ")));
        }
        Kind::BugHunt if stub.failed.is_empty() => problems.push("no test sees the bug".into()),
        Kind::Write | Kind::BugHunt => {}
    }

    let solution = solutions.run(&tests, LIMIT)?;
    if !solution.all_pass() {
        problems.push(format!("the solution fails:\n{}", shown(&solution)));
    }

    let (mut rejected, mut wrong, mut accepted, mut right) = (0, 0, 0, 0);
    for variant in layout::variants(root, exercise)? {
        let module = format!(
            "{}::{}::{}::{}_tests::",
            exercise.chapter.module(),
            exercise.name,
            variant.name,
            exercise.name
        );
        let outcome = variants.run(&module, LIMIT)?;
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
                problems.push(format!("{} is accepted", variant.name));
            }
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

fn shown(outcome: &Outcome) -> String {
    match outcome.timed_out {
        true => format!("killed after {} s\n{}", LIMIT.as_secs(), outcome.output),
        false => outcome.output.clone(),
    }
}

/// Variants are modules that rustfmt does not find from their package's root.
fn formatting(root: &Path, exercise: &Exercise) -> Result<Vec<String>> {
    let mut files = vec![
        root.join(exercise.file()),
        root.join(exercise.suite()),
        root.join(exercise.solution()),
    ];
    files.extend(layout::variants(root, exercise)?.into_iter().map(|variant| variant.path));
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

fn clippy(root: &Path) -> Result<()> {
    let status = Command::new("cargo")
        .args([
            "clippy",
            "--quiet",
            "-p",
            "solutions",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ])
        .current_dir(root)
        .status()?;
    ensure!(status.success(), "clippy has something to say about the solutions");
    Ok(())
}
