//! Hints and answers.

use std::fs;

use anyhow::{Context, Result, bail};
use exercises_runner::progress::Status;

use crate::screen::{END, FAINT, STRONG, link, say};
use crate::{Project, check};

/// Shows the hints that were shown before, and one more.
pub fn hint(project: &Project, name: Option<&str>) -> Result<()> {
    let exercise = match name {
        Some(name) => project.manifest.find(name)?,
        None => project.next()?.context("all exercises pass: name one to see its hints")?,
    };
    let before = project.progress()?.hints_shown(exercise);
    project.update(|progress| {
        progress.show_hint(exercise);
        progress.set_last(exercise);
    })?;
    let all = exercise.hints.len();
    let now = (before + 1).min(all);
    say!("{STRONG}{}{END} ({})", exercise.title, exercise.name);
    for (i, hint) in exercise.hints.iter().take(now).enumerate() {
        say!("\n{STRONG}Hint {} of {all}{END}\n", i + 1);
        for line in hint.trim().lines() {
            say!("  {line}");
        }
    }
    if now < all {
        say!("\n{FAINT}The same command shows one more.{END}")
    } else {
        say!(
            "\n{FAINT}These are all. To see the answer: cargo run -p exercises -- solution {} --give-up{END}",
            exercise.name
        )
    }
    Ok(())
}

/// Shows the answer of an exercise that passes, or to someone who gives up.
pub fn solution(project: &Project, name: &str, give_up: bool) -> Result<()> {
    let exercise = project.manifest.find(name)?;
    if !give_up {
        let passes = match project.progress()?.status(&project.root, exercise)? {
            Status::Passed => true,
            Status::NotPassed => false,
            Status::Changed => check::one(project, exercise)?,
        };
        if !passes {
            bail!(
                "`{name}` does not pass yet. A hint may be enough: `cargo run -p exercises -- hint {name}`. To see the answer all the same, add `--give-up`"
            );
        }
    }
    let path = exercise.solution();
    let text = fs::read_to_string(project.root.join(&path))
        .with_context(|| format!("cannot read {path:?}"))?;
    say!("{}\n", link(&project.root, &path, None));
    for line in text.lines() {
        match line.strip_prefix("//!") {
            Some(words) => say!("{}", words.trim_start()),
            None => say!("    {line}"),
        }
    }
    Ok(())
}
