//! Whether exercises pass, found by running their tests.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, SystemTime};
use std::{env, fs, io, thread};

use anstream::{AutoStream, ColorChoice, eprintln};
use anyhow::Result;
use exercises_runner::compile_error::CompileError;
use exercises_runner::failure::{Failure, sort_as_in_suite};
use exercises_runner::manifest::{Exercise, Package};
use exercises_runner::progress::{self, Status};
use exercises_runner::test_binary::{self, Build, Ending, LIMIT, MEMORY, Outcome, TestBinary};

use crate::screen::{
    ATTENTION, BAD, END, FAINT, GOOD, STRONG, fitted, line_of_task, link, print, say,
};
use crate::{Project, engine, overview};

/// After how long a build that shows nothing says that it goes on.
const PATIENCE: Duration = Duration::from_secs(20);

pub fn run(project: &Project, name: Option<&str>) -> Result<ExitCode> {
    let pass = match name {
        Some(name) => {
            let pass = one(project, project.manifest.find(name)?)?;
            if pass {
                say!();
                overview::next(project)?;
            }
            pass
        }
        None => all(project)?,
    };
    Ok(if pass {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Checks one exercise and shows what failed. Returns whether it passes.
pub fn one(project: &Project, exercise: &Exercise) -> Result<bool> {
    let version = progress::version(&project.root, exercise)?;
    project.update(|progress| progress.set_last(exercise))?;
    let binary = match build(project, exercise.package())? {
        Build::Ready(binary) => binary,
        Build::Broken(errors) => {
            broken(project, Some(exercise), &errors);
            return Ok(false);
        }
    };
    let mut outcome = binary.run(&exercise.tests())?;
    let suite = fs::read_to_string(project.root.join(exercise.suite()))?;
    sort_as_in_suite(&mut outcome.failed, &suite);
    let pass = outcome.all_pass();
    project.update(|progress| progress.set_passed(exercise, version, pass))?;
    if pass {
        congratulate(project, exercise, &outcome)
    } else {
        show(project, exercise, &outcome)
    }
    Ok(pass)
}

/// Checks the exercises that changed since they were checked, without details.
pub fn changed(project: &Project) -> Result<()> {
    let changed = begun(project, &project.changed(project.exercises())?)?;
    let Some(last) = changed.iter().copied().max_by_key(|exercise| saved(project, exercise)) else {
        return Ok(());
    };
    project.update(|progress| progress.set_last(last))?;
    several(project, &changed)?;
    say!();
    Ok(())
}

/// When the file of an exercise was saved.
fn saved(project: &Project, exercise: &Exercise) -> Option<SystemTime> {
    fs::metadata(project.root.join(exercise.file())).and_then(|file| file.modified()).ok()
}

fn all(project: &Project) -> Result<bool> {
    let exercises = project.exercises();
    let begun = begun(project, &exercises)?;
    let passed = several(project, &begun)?;
    match exercises.len() - begun.len() {
        0 => {}
        1 => say!("{FAINT}· 1 exercise is not begun{END}"),
        count => say!("{FAINT}· {count} exercises are not begun{END}"),
    }
    say!("\n{STRONG}{passed} of {} exercises pass.{END}", exercises.len());
    if passed < exercises.len() {
        say!("`cargo run -p exercises -- check NAME` shows what fails in one of them.");
    }
    Ok(passed == exercises.len())
}

/// Those of some exercises that somebody has begun. The others do not pass, which is known without
/// building or running them.
fn begun<'a>(project: &Project, exercises: &[&'a Exercise]) -> Result<Vec<&'a Exercise>> {
    let root = &project.root;
    let progress = project.progress()?;
    let (mut begun, mut suites_changed) = (Vec::new(), Vec::new());
    for &exercise in exercises {
        if !progress.is_untouched(root, exercise)? {
            begun.push(exercise);
        } else if progress.status(root, exercise)? == Status::Changed {
            suites_changed.push((exercise, progress::version(root, exercise)?));
        }
    }
    if !suites_changed.is_empty() {
        project.update(|progress| {
            for (exercise, version) in suites_changed {
                progress.set_passed(exercise, version, false);
            }
        })?;
    }
    Ok(begun)
}

/// Checks exercises with a line for each, and keeps each result as it comes. Returns how many pass.
pub fn several(project: &Project, exercises: &[&Exercise]) -> Result<usize> {
    let root = &project.root;
    let mut passed = 0;
    for package in Package::ALL {
        let mut exercises = exercises.iter().filter(|e| e.package() == package).peekable();
        if exercises.peek().is_none() {
            continue;
        }
        let exercises: Vec<(&Exercise, String)> =
            exercises.map(|e| Ok((*e, progress::version(root, e)?))).collect::<Result<_>>()?;
        let binary = match build(project, package)? {
            Build::Ready(binary) => binary,
            Build::Broken(errors) => {
                broken(project, None, &errors);
                continue;
            }
        };
        for (exercise, version) in exercises {
            let outcome = binary.run(&exercise.tests())?;
            say!("{}", summary(exercise, &outcome));
            let pass = outcome.all_pass();
            passed += usize::from(pass);
            project.update(|progress| progress.set_passed(exercise, version, pass))?;
        }
    }
    Ok(passed)
}

/// Builds the tests of a package. Those that need Burn find the one that the examples were built with.
fn build(project: &Project, package: Package) -> Result<Build> {
    let (library, first_takes) = match package {
        Package::Exercises => ("debug/deps/libslowburn-", "a minute or less"),
        Package::TensorExercises => (
            "debug/deps/libburn_core-",
            "about five minutes on two cores: an exercise with tensors needs Burn, which is compiled once. Cargo shows below how far it is",
        ),
    };
    let building = Building::begin(library, first_takes, "checking ...");
    TestBinary::build(&project.root, package.name(), &[], building.progress, colour())
}

/// What is said while cargo builds. It ends when this is dropped.
pub struct Building {
    pub progress: test_binary::Progress,
    _until_built: mpsc::Sender<()>,
}

impl Building {
    /// `library` is one of those that are built, and so tells whether it is the first time.
    pub fn begin(library: &str, first_takes: &str, later: &str) -> Self {
        let first = !is_built(library);
        let progress = if first {
            test_binary::Progress::Shown
        } else {
            test_binary::Progress::Hidden
        };
        if first {
            eprintln!(
                "{}",
                fitted(&format!("The first build takes {first_takes}. Later ones take seconds."))
            )
        } else {
            eprintln!("{}", fitted(&format!("{FAINT}{later}{END}")))
        }
        let (_until_built, built) = mpsc::channel::<()>();
        if !first {
            thread::spawn(move || {
                if built.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                    eprintln!(
                        "{}",
                        fitted(&format!(
                            "{FAINT}still compiling: that can take minutes if more than one exercise has changed{END}"
                        ))
                    );
                }
            });
        }
        Self { progress, _until_built }
    }
}

/// Whether a library whose file begins so lies in the folder of what cargo has built. Only what is
/// shown depends on it.
fn is_built(library: &str) -> bool {
    let program = env::current_exe().ok();
    let target = program.as_deref().and_then(Path::parent).and_then(Path::parent);
    let Some((target, library)) = target.zip(library.rsplit_once('/')) else {
        return false;
    };
    let (folder, name) = library;
    let Ok(mut entries) = fs::read_dir(target.join(folder)) else {
        return false;
    };
    let fits = |file: &str| file.starts_with(name) && file.ends_with(".rlib");
    entries.any(|e| e.is_ok_and(|e| e.file_name().to_str().is_some_and(fits)))
}

/// Whether the compiler's messages come in colour.
pub fn colour() -> bool {
    io::stdout().is_terminal() && AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

fn congratulate(project: &Project, exercise: &Exercise, outcome: &Outcome) {
    say!(
        "{GOOD}✓ {} passes{END}: {} of {} tests. Now compare: {}",
        exercise.name,
        outcome.passed.len(),
        outcome.passed.len(),
        link(&project.root, &exercise.solution(), None)
    );
    if engine::part(exercise).is_some() {
        say!("It is a part of your engine now: cargo run -p exercises -- engine");
    }
}

/// What failed, with all that the tests say.
fn show(project: &Project, exercise: &Exercise, outcome: &Outcome) {
    let (todo, wrong): (Vec<_>, Vec<_>) = outcome.failed.iter().partition(|f| f.is_todo());
    // The limits are for when the idea is right.
    let (limits, of_idea): (Vec<&&Failure>, Vec<_>) = wrong.iter().partition(|f| f.is_limit());
    let shown = if of_idea.is_empty() {
        &limits
    } else {
        &of_idea
    };
    // Tests that crash leave no message of those that had failed before.
    for failure in shown.iter().filter(|failure| !failure.message.is_empty()) {
        say!("{BAD}✗ {}{END}\n", failure.name());
        for line in failure.message.lines() {
            say!("    {line}");
        }
        say!();
    }
    let file = link(&project.root, &exercise.file(), line_of_task(&project.root, &exercise.file()));
    if !todo.is_empty() {
        say!("{} tests reach a `todo!()` in {file}:", todo.len());
        for failure in &todo {
            say!("    {}", failure.name());
        }
        say!();
    }
    if !limits.is_empty() {
        let names: Vec<&str> = limits.iter().map(|failure| failure.name()).collect();
        let names = names.join(", ");
        if of_idea.is_empty() && todo.is_empty() {
            say!("{GOOD}The idea is right.{END} The second stage is left, its limits: {names}\n");
        } else {
            say!("For later, when the idea is right, there are its limits: {names}\n");
        }
    }
    say!("{}", summary(exercise, outcome));
    match &outcome.ending {
        Ending::Regular => {}
        Ending::TimedOut => say!(
            "The tests were stopped after {} seconds: is there a loop that doesn't end? These had a result: {}.",
            LIMIT.as_secs(),
            names(outcome)
        ),
        Ending::OutOfMemory => say!(
            "The tests were stopped when they asked for more than {} GB of memory: is there a loop that keeps pushing? These had a result: {}.",
            MEMORY >> 30,
            names(outcome)
        ),
        Ending::Crashed(said) => say!(
            "The tests ended in the middle, as after endless recursion. These had a result: {}.\n{}",
            names(outcome),
            said.trim()
        ),
    }
    say!("  {file}");
}

fn names(outcome: &Outcome) -> String {
    let passed = outcome.passed.iter().map(|test| test.rsplit("::").next().unwrap_or(test));
    let names: Vec<&str> = passed.chain(outcome.failed.iter().map(|f| f.name())).collect();
    if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    }
}

fn summary(exercise: &Exercise, outcome: &Outcome) -> String {
    let name = &exercise.name;
    let (passed, failed) = (outcome.passed.len(), outcome.failed.len());
    match outcome.ending {
        _ if outcome.all_pass() => format!("{GOOD}✓ {name}{END}: {passed} of {passed} tests pass"),
        Ending::Regular => {
            format!("{BAD}✗ {name}{END}: {failed} of {} tests fail", passed + failed)
        }
        Ending::TimedOut => format!("{BAD}✗ {name}{END}: the tests do not end"),
        Ending::OutOfMemory => format!("{BAD}✗ {name}{END}: the tests take too much memory"),
        Ending::Crashed(_) => format!("{BAD}✗ {name}{END}: the tests crash"),
    }
}

/// Code that does not compile: the errors of the learner's file, or of the one that is in the way.
pub fn broken(project: &Project, exercise: Option<&Exercise>, errors: &[CompileError]) {
    let mut files: Vec<&Path> = errors.iter().map(|error| error.file.as_path()).collect();
    files.sort();
    files.dedup();
    if let Some(exercise) = exercise {
        let (own, suite) = (exercise.file(), exercise.suite());
        files.sort_by_key(|file| (**file != own, **file != suite));
    }
    for (i, file) in files.iter().enumerate() {
        let own = exercise.is_some_and(|exercise| exercise.file() == **file);
        // An error elsewhere often follows from one in the file that is written at the moment.
        let shown = i == 0 || exercise.is_none_or(|exercise| exercise.file() != files[0]);
        if shown {
            for error in errors.iter().filter(|error| error.file == **file) {
                print(&format!("{}\n", error.text));
            }
        }
        let link = link(&project.root, file, None);
        say!("{BAD}✗ {link} does not compile{END}");
        if !own {
            say!("{ATTENTION}{}{END}", why(project, file));
        }
    }
}

fn why(project: &Project, file: &Path) -> String {
    let exercises = &project.manifest.exercises;
    if exercises.iter().any(|exercise| exercise.suite() == file) {
        return "  It holds tests: does your function still have its original signature?".into();
    }
    match exercises.iter().find(|exercise| exercise.file() == file) {
        Some(other) => format!(
            "  Exercises are compiled together. Fix it first, or put it back: cargo run -p exercises -- reset {}",
            other.name
        ),
        None => {
            "  It isn't an exercise: has it been changed? `git diff exercises` shows you.".into()
        }
    }
}
