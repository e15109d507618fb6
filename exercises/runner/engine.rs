//! Texts, written by an engine of which every part is the learner's whose exercise passes.

use std::io::{self, IsTerminal};
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::{Context, Result};
use exercises_runner::cargo::cargo;
use exercises_runner::engine_parts::{PARTS, Part, Since};
use exercises_runner::manifest::Exercise;
use exercises_runner::progress::Status;
use exercises_runner::test_binary::{self, Progress};

use crate::Project;
use crate::check::{self, Building};
use crate::figure;
use crate::screen::{ATTENTION, BAD, END, FAINT, GOOD, STRONG, say};

/// The part of the engine that an exercise takes over.
pub fn part(exercise: &Exercise) -> Option<&'static Part> {
    PARTS.iter().find(|part| part.exercise == exercise.name)
}

/// Whose a part is, and why.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// Its exercise passes.
    Yours,
    /// Its exercise does not pass, and the learner wants to see what comes of it.
    Tried,
    /// There is nothing to take over yet.
    Unsolved,
    /// Its tests fail.
    Failing,
    /// The exercises do not compile, so its tests cannot run.
    Unchecked,
}

impl Whose {
    fn is_yours(self) -> bool {
        matches!(self, Self::Yours | Self::Tried)
    }

    fn shown(self) -> String {
        match self {
            Self::Yours => format!("{GOOD}yours{END}"),
            Self::Tried => format!("{ATTENTION}yours, though its tests do not pass{END}"),
            Self::Unsolved => format!("{FAINT}the book's{END}"),
            Self::Failing => format!("the book's: {BAD}the tests of yours fail{END}"),
            Self::Unchecked => format!("the book's: {BAD}yours is not checked{END}"),
        }
    }
}

/// Builds the engine, and starts it with these arguments.
pub fn run(project: &Project, tried: &[String], arguments: &[String]) -> Result<ExitCode> {
    for name in tried {
        let exercise = project.manifest.find(name)?;
        part(exercise).with_context(|| {
            format!(
                "`{name}` is no part of the engine: `cargo run -p exercises -- engine` shows those that are"
            )
        })?;
    }
    let parts = parts(project, tried)?;
    let serves = arguments.iter().any(|argument| argument == "--serve");
    // What serves says its address, and nothing before.
    if !serves {
        table(&parts);
        mark(project, &parts)?;
    }
    write(project, &parts, arguments)
}

/// The parts in their order, after what changed was checked.
fn parts(project: &Project, tried: &[String]) -> Result<Vec<(&'static Part, Whose)>> {
    let exercise = |part: &'static Part| {
        let mut exercises = project.manifest.exercises.iter();
        Some((part, exercises.find(|exercise| exercise.name == part.exercise)?))
    };
    let exercises: Vec<(&'static Part, &Exercise)> = PARTS.iter().filter_map(exercise).collect();
    let changed = project.changed(exercises.iter().map(|(_, exercise)| *exercise))?;
    if !changed.is_empty() {
        check::several(project, &changed)?;
        say!();
    }
    let progress = project.progress()?;
    let whose = |(part, exercise): (&'static Part, &Exercise)| {
        let whose = match progress.status(&project.root, exercise)? {
            Status::Passed => Whose::Yours,
            _ if tried.contains(&exercise.name) => Whose::Tried,
            Status::Changed => Whose::Unchecked,
            Status::NotPassed if progress.is_unsolved(&project.root, exercise)? => Whose::Unsolved,
            Status::NotPassed => Whose::Failing,
        };
        Ok((part, whose))
    };
    exercises.into_iter().map(whose).collect()
}

/// What the engine is made of.
fn table(parts: &[(&Part, Whose)]) {
    say!("  {STRONG}{:<36}{:<25}whose{END}", "part", "exercise");
    let mut since = None;
    for (part, whose) in parts {
        if since.replace(part.since) != Some(part.since) {
            say!("{STRONG}{}{END}", heading(part.since));
        }
        say!("  {:<36}{:<25}{}", part.does, part.exercise, whose.shown());
    }
    let yours = parts.iter().filter(|(_, whose)| whose.is_yours()).count();
    say!("\n{STRONG}{yours} of {} parts are yours.{END}", parts.len());
    if yours == 0 {
        say!("Each of these exercises takes over its part once it passes.");
    } else if parts.iter().all(|(_, whose)| *whose == Whose::Yours) {
        say!(
            "{GOOD}The engine is your own{END}, except for reading files and the code that ties the parts together."
        );
    }
    say!();
}

/// The figure of the chapter, once a part is the learner's.
fn mark(project: &Project, parts: &[(&Part, Whose)]) -> Result<()> {
    let yours = parts.iter().filter(|(_, whose)| whose.is_yours());
    let yours: Vec<&str> = yours.map(|(part, _)| part.exercise).collect();
    if !yours.is_empty() {
        let file = figure::write(&project.root, &yours)?;
        say!("The figure of the chapter, with your parts marked: {}\n", file.display());
    }
    Ok(())
}

/// What the parts are for that come next.
fn heading(since: Since) -> &'static str {
    match since {
        Since::OneText => "one text",
        Since::SeveralTexts => "several texts at once",
        Since::Guesses => "with guesses",
        Since::Regex => "inside a regular expression",
        Since::Units => "kernels on a loop over units",
        Since::OtherModel => "a model with windows and experts",
        Since::Http => "over HTTP",
        Since::Replicas => "a router in front of two engines",
    }
}

/// Builds the engine with the parts that are the learner's, and lets it write.
fn write(project: &Project, parts: &[(&Part, Whose)], arguments: &[String]) -> Result<ExitCode> {
    let yours: Vec<&(&Part, Whose)> = parts.iter().filter(|(_, whose)| whose.is_yours()).collect();
    let with_tensors = yours.iter().any(|(part, _)| part.tensors);
    let (library, first_takes) = if with_tensors {
        ("debug/deps/libburn_core-", "several minutes: a part with tensors needs Burn")
    } else {
        ("debug/deps/libyour_engine-", "a minute or less")
    };
    let package = "your-engine";
    let names: Vec<&str> = yours.iter().map(|(part, _)| part.exercise).collect();
    let mut command = cargo();
    command
        .args(["rustc", "-p", package, "--bin", package])
        .args(with_tensors.then_some("--features=tensors"))
        .env("YOUR_ENGINE", names.join(","));
    // Where nobody waits in front of it, the output is the story and nothing else.
    let building = io::stderr()
        .is_terminal()
        .then(|| Building::begin(library, first_takes, "building the engine ..."));
    let progress = building.as_ref().map_or(Progress::Hidden, |building| building.progress);
    let built =
        test_binary::compile(&project.root, command, package, false, progress, check::colour())?;
    drop(building);
    let program = match built {
        Ok(program) => program,
        Err(errors) => {
            check::broken(project, None, &errors);
            return Ok(ExitCode::FAILURE);
        }
    };
    let mut engine = Command::new(&program);
    engine.args(arguments).current_dir(&project.root);
    let status = status(engine).with_context(|| format!("cannot start {program:?}"))?;
    let tried = yours.iter().filter(|(_, whose)| *whose == Whose::Tried);
    let tried: Vec<&str> = tried.map(|(part, _)| part.exercise).collect();
    Ok(conclude(status, &tried))
}

/// Says what follows from how the engine ended.
fn conclude(status: ExitStatus, tried: &[&str]) -> ExitCode {
    match (status.code(), tried) {
        (Some(0), []) => {}
        (Some(0), tried) => say!(
            "\nAnd yet the tests of {} fail: some texts show a few cases, and the tests show many.",
            tried.join(", ")
        ),
        (Some(1), []) => say!(
            "\nAll your parts pass their tests. Where the book's differ, the tests allow both."
        ),
        (Some(1), tried) => {
            say!("\nWhich rule is broken:");
            for name in tried {
                say!("  cargo run -p exercises -- check {name}");
            }
        }
        // It has said what is wrong.
        (Some(2), _) => {}
        _ => say!(
            "\n{BAD}The engine ended in the middle, as after endless recursion: {status}.{END}"
        ),
    }
    if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Runs the engine. If the engine serves, a signal to the runner's parent has to reach it.
#[cfg(unix)]
fn status(mut engine: Command) -> io::Result<ExitStatus> {
    use std::os::unix::process::CommandExt;
    if engine.get_args().any(|argument| argument == "--serve") {
        return Err(engine.exec());
    }
    engine.status()
}

#[cfg(not(unix))]
fn status(mut engine: Command) -> io::Result<ExitStatus> {
    engine.status()
}
