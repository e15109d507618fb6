//! Checking an exercise whenever it is saved.

use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result};
use exercises_runner::manifest::Exercise;
use exercises_runner::progress;
use notify_debouncer_mini::new_debouncer;
use notify_debouncer_mini::notify::RecursiveMode;

use crate::screen::{END, FAINT, STRONG, say};
use crate::{Project, check, overview};

/// Editors write a file in several steps: they count as one if no more time lies between them.
const SETTLED: Duration = Duration::from_millis(100);

pub fn run(project: &Project) -> Result<()> {
    let (sender, events) = mpsc::channel();
    let mut debouncer = new_debouncer(SETTLED, sender).context("cannot watch files")?;
    // The folder, not the files: many editors replace a file by another of the same name.
    let folder = project.root.join("exercises/src");
    debouncer
        .watcher()
        .watch(&folder, RecursiveMode::Recursive)
        .with_context(|| format!("cannot watch {folder:?}"))?;

    check::changed(project)?;
    let mut seen = versions(project);
    let Some(next) = project.next()? else {
        return overview::next(project);
    };
    begin(project, next);
    check::one(project, next)?;
    for event in events {
        event.context("cannot watch files any more")?;
        let now = versions(project);
        let saved = (0..now.len()).find(|&i| now[i] != seen[i]);
        seen = now;
        let Some(exercise) = saved.map(|i| &project.manifest.exercises[i]) else {
            continue;
        };
        say!("\n{FAINT}--------{END} {STRONG}{}{END}\n", exercise.title);
        if !check::one(project, exercise)? {
            continue;
        }
        say!();
        match project.next()? {
            Some(next) => begin(project, next),
            None => return overview::next(project),
        }
    }
    Ok(())
}

/// The versions of all exercises: an editor touches files that it does not change.
fn versions(project: &Project) -> Vec<Option<String>> {
    let exercises = project.manifest.exercises.iter();
    exercises.map(|exercise| progress::version(&project.root, exercise).ok()).collect()
}

fn begin(project: &Project, exercise: &Exercise) {
    overview::task(project, exercise);
    say!("  {FAINT}Save the file to check it. Ctrl-C ends this.{END}\n");
}
