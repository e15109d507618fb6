//! Starting an exercise anew, without losing what was written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anstream::println;
use anyhow::{Context, Result, bail, ensure};
use exercises_runner::manifest::Exercise;
use exercises_runner::progress::{self, FOLDER};

use crate::Project;
use crate::screen::{END, GOOD, link};

pub fn run(project: &Project, name: &str, from: &str) -> Result<()> {
    let exercise = project.manifest.find(name)?;
    let path = project.root.join(exercise.file());
    let now = fs::read(&path).with_context(|| format!("cannot read {path:?}"))?;
    let stub = stub(project, exercise, from)?;
    if now == stub {
        bail!(
            "{} is as it was in {from}: nothing to do. If you committed your answer, name an older commit with `--from COMMIT`; `git log {}` lists them",
            exercise.file().display(),
            exercise.file().display()
        );
    }
    let backups = Path::new(FOLDER).join("backups");
    fs::create_dir_all(project.root.join(&backups))?;
    let backup = progress::free_name(&project.root.join(&backups), name, "rs");
    fs::write(&backup, &now).with_context(|| format!("cannot write {backup:?}"))?;
    fs::write(&path, stub).with_context(|| format!("cannot write {path:?}"))?;
    println!(
        "{GOOD}✓ {} is as at the start.{END}",
        link(&project.root, &exercise.file(), None)
    );
    println!("Your version is kept: {}", link(&project.root, &backup, None));
    Ok(())
}

/// Where there is no git, keeps the exercises as they are when the runner sees them first.
pub fn keep_originals(project: &Project) -> Result<()> {
    if project.root.join(".git").exists() {
        return Ok(());
    }
    for exercise in &project.manifest.exercises {
        let original = original(project, exercise);
        if !original.exists() {
            fs::create_dir_all(original.parent().context("a file in a folder")?)?;
            fs::copy(project.root.join(exercise.file()), &original)
                .with_context(|| format!("cannot copy {:?}", exercise.file()))?;
        }
    }
    Ok(())
}

fn stub(project: &Project, exercise: &Exercise, from: &str) -> Result<Vec<u8>> {
    if !project.root.join(".git").exists() {
        let original = original(project, exercise);
        return fs::read(&original).with_context(|| format!("cannot read {original:?}"));
    }
    // Slashes on every system, and from the folder of the project, which may lie inside a
    // repository.
    let file = exercise.file().to_string_lossy().replace('\\', "/");
    let output = Command::new("git")
        .args(["show", &format!("{from}:./{file}")])
        .current_dir(&project.root)
        .output()
        .context("cannot start git, which has the exercise as it was")?;
    ensure!(
        output.status.success(),
        "git does not have {file} in {from}: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(output.stdout)
}

fn original(project: &Project, exercise: &Exercise) -> PathBuf {
    project.root.join(FOLDER).join("originals").join(format!("{}.rs", exercise.name))
}
