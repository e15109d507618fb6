//! Starting an exercise anew, without losing what was written.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use exercises_runner::originals;
use exercises_runner::progress::{self, FOLDER};

use crate::Project;
use crate::screen::{END, GOOD, link, say};

pub fn run(project: &Project, name: &str, from: &str) -> Result<()> {
    let exercise = project.manifest.find(name)?;
    let path = project.root.join(exercise.file());
    let now = fs::read(&path).with_context(|| format!("cannot read {path:?}"))?;
    let stub = originals::read(&project.root, exercise, from)?;
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
    project.update(|progress| progress.set_last(exercise))?;
    say!(
        "{GOOD}✓ {} is as at the start.{END}",
        link(&project.root, &exercise.file(), None)
    );
    say!("Your version is kept: {}", link(&project.root, &backup, None));
    Ok(())
}
