//! Where a learner is.

use anyhow::Result;
use exercises_runner::manifest::{Chapter, Exercise, Kind};
use exercises_runner::progress::{Progress, Status};

use crate::screen::{ATTENTION, END, FAINT, GOOD, STRONG, bar, line_of_task, link, say};
use crate::{Project, check, engine};

pub fn run(project: &Project) -> Result<()> {
    check::changed(project)?;
    let progress = project.progress()?;
    let passed = |exercise: &Exercise| -> Result<bool> {
        Ok(progress.status(&project.root, exercise)? == Status::Passed)
    };
    let exercises = project.exercises();
    let mut all_done = 0;
    for chapter in Chapter::ALL {
        let of_chapter: Vec<&&Exercise> =
            exercises.iter().filter(|exercise| exercise.chapter == chapter).collect();
        if of_chapter.is_empty() {
            continue;
        }
        let mut done = 0;
        for exercise in &of_chapter {
            done += usize::from(passed(exercise)?);
        }
        all_done += done;
        let all = of_chapter.len();
        say!("  {:<14}{} {done} of {all}", chapter.module(), bar(done, all));
    }
    say!("\n  {STRONG}{all_done} of {} exercises pass.{END}", exercises.len());
    if all_done == 0 {
        say!(
            "  All tests fail at the start: that is expected. You turn them green one file at a time."
        );
    }
    say!();
    next(project)
}

/// The next exercise, and what to type.
pub fn next(project: &Project) -> Result<()> {
    let Some(exercise) = project.next()? else {
        say!("{GOOD}All exercises pass.{END} Their answers, with reasons, are in solutions/src.");
        say!("What you wrote is an engine: cargo run -p exercises -- engine");
        return Ok(());
    };
    task(project, exercise);
    say!();
    let name = &exercise.name;
    let check = format!("check {name}");
    let hint = format!("hint {name}");
    let width = check.len();
    for (arguments, meaning) in [
        ("watch", "checks it whenever you save"),
        (&check, "checks it once"),
        (&hint, "hints, one more each time"),
        ("engine", "writes with what passes"),
    ] {
        say!("  cargo run -p exercises -- {arguments:<width$}  {FAINT}{meaning}{END}");
    }
    Ok(())
}

/// What to do, and where.
pub fn task(project: &Project, exercise: &Exercise) {
    let file = exercise.file();
    let line = line_of_task(&project.root, &file);
    say!("Next: {STRONG}{}{END}", exercise.title);
    say!("  {}", link(&project.root, &file, line));
    say!("  {}", about(exercise));
    let page = format!("book/src/{}.md", exercise.chapter.page());
    say!("  the chapter: {}", link(&project.root, page.as_ref(), None));
}

/// All exercises with level, minutes and state.
pub fn list(project: &Project) -> Result<()> {
    let progress = project.progress()?;
    let exercises = project.exercises();
    let width = exercises.iter().map(|exercise| exercise.name.len()).max().unwrap_or(0);
    let mut chapter = None;
    for exercise in &exercises {
        if chapter.replace(exercise.chapter) != Some(exercise.chapter) {
            say!("{STRONG}{}{END}", exercise.chapter.module());
        }
        say!(
            "  {} {:<width$}  {:<6} {:>3} min  {}{FAINT}{}{END}",
            mark(project, &progress, exercise)?,
            exercise.name,
            exercise.level_in_words(),
            exercise.minutes,
            exercise.title,
            marks(exercise)
        );
    }
    say!("\n✓ passes, · does not pass yet, ? changed since it was checked");
    say!("engine: a part of what `cargo run -p exercises -- engine` runs");
    Ok(())
}

/// What an exercise is apart from the rest, in brackets.
fn marks(exercise: &Exercise) -> String {
    let marks = [
        (exercise.kind == Kind::BugHunt, "bug hunt"),
        (exercise.short_path, "short path"),
        (engine::part(exercise).is_some(), "engine"),
    ];
    let marks: Vec<&str> = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
    if marks.is_empty() {
        String::new()
    } else {
        format!(" ({})", marks.join(", "))
    }
}

fn mark(project: &Project, progress: &Progress, exercise: &Exercise) -> Result<String> {
    Ok(match progress.status(&project.root, exercise)? {
        Status::Passed => format!("{GOOD}✓{END}"),
        Status::NotPassed => format!("{FAINT}·{END}"),
        Status::Changed => format!("{ATTENTION}?{END}"),
    })
}

/// Level, minutes and kind in a line.
fn about(exercise: &Exercise) -> String {
    let hunt = match exercise.kind {
        Kind::BugHunt => " bug hunt: the code compiles and is wrong",
        Kind::Write => "",
    };
    format!("{}{hunt}, about {} minutes", exercise.level_in_words(), exercise.minutes)
}
