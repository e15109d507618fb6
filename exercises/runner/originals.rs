//! The exercises as they were before somebody worked on them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::manifest::{Exercise, Manifest};
use crate::progress::FOLDER;

/// Where there is no git, keeps the exercises as they are when the runner sees them first.
pub fn keep(root: &Path, manifest: &Manifest) -> Result<()> {
    if has_git(root) {
        return Ok(());
    }
    for exercise in &manifest.exercises {
        let kept = kept(root, exercise);
        if !kept.exists() {
            fs::create_dir_all(kept.parent().context("a file in a folder")?)?;
            fs::copy(root.join(exercise.file()), &kept)
                .with_context(|| format!("cannot copy {:?}", exercise.file()))?;
        }
    }
    Ok(())
}

/// An exercise as it was in the commit `from`, or, where there is no git, when the runner saw it
/// first.
pub fn read(root: &Path, exercise: &Exercise, from: &str) -> Result<Vec<u8>> {
    if !has_git(root) {
        let kept = kept(root, exercise);
        return fs::read(&kept).with_context(|| format!("cannot read {kept:?}"));
    }
    // Slashes on every system, and from the folder of the project, which may lie inside a
    // repository.
    let file = exercise.file().to_string_lossy().replace('\\', "/");
    let output = Command::new("git")
        .args(["show", &format!("{from}:./{file}")])
        .current_dir(root)
        .output()
        .context("cannot start git, which has the exercise as it was")?;
    ensure!(
        output.status.success(),
        "git does not have {file} in {from}: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(output.stdout)
}

/// The files of `exercises/src`, from `root`, that differ from the last commit, or from what the
/// runner saw first. Empty where neither can be asked.
pub fn edited(root: &Path) -> HashSet<PathBuf> {
    if has_git(root) {
        differ_from_commit(root)
    } else {
        differ_from_kept(root)
    }
}

fn differ_from_commit(root: &Path) -> HashSet<PathBuf> {
    let output = Command::new("git")
        .args([
            "diff",
            "--name-only",
            "--relative",
            "-z",
            "HEAD",
            "--",
            "exercises/src",
        ])
        .current_dir(root)
        .output();
    let listed = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&listed).split_terminator('\0').map(PathBuf::from).collect()
}

fn differ_from_kept(root: &Path) -> HashSet<PathBuf> {
    let Ok(manifest) = Manifest::read(root) else {
        return HashSet::new();
    };
    let differs = |exercise: &Exercise| {
        let (kept, now) = (fs::read(kept(root, exercise)), fs::read(root.join(exercise.file())));
        kept.is_ok_and(|kept| now.is_ok_and(|now| kept != now))
    };
    manifest.exercises.iter().filter(|e| differs(e)).map(Exercise::file).collect()
}

fn has_git(root: &Path) -> bool {
    root.join(".git").exists()
}

fn kept(root: &Path, exercise: &Exercise) -> PathBuf {
    root.join(FOLDER).join("originals").join(format!("{}.rs", exercise.name))
}
