//! What the runner remembers: which exercises passed, which one was worked on last, and which hints
//! were shown.
//!
//! It is kept in `exercises/.progress`, which git ignores.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::manifest::{Exercise, Kind};
use crate::originals;

/// The folder of everything that the runner keeps, from the root of the project.
pub const FOLDER: &str = "exercises/.progress";

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Progress {
    /// The name of the exercise that was worked on last.
    #[serde(default)]
    last: Option<String>,
    /// The files that differ from the originals, once somebody has asked.
    #[serde(skip)]
    edited: OnceCell<HashSet<PathBuf>>,
    #[serde(default)]
    exercise: BTreeMap<String, Record>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    /// How many hints were shown.
    #[serde(default)]
    hints: usize,
    /// Whether the file and its suite passed, and which they were.
    #[serde(default)]
    checked: Option<Checked>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Checked {
    version: String,
    passed: bool,
}

/// What is known of an exercise without running its tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Passed,
    NotPassed,
    /// The file or its suite changed after the last check.
    Changed,
}

impl Progress {
    /// What was kept of the project in `root`. A file that can't be read as such is put aside
    /// under another name, and the note says where it is.
    pub fn load(root: &Path) -> Result<(Self, Option<String>)> {
        let path = file(root);
        let Ok(bytes) = fs::read(&path) else {
            return Ok((Self::default(), None));
        };
        let error = match String::from_utf8(bytes).map(|text| toml::from_str(&text)) {
            Ok(Ok(progress)) => return Ok((progress, None)),
            Ok(Err(error)) => error.message().to_owned(),
            Err(error) => error.to_string(),
        };
        let aside = free_name(&root.join(FOLDER), "damaged", "toml");
        fs::rename(&path, &aside).with_context(|| format!("cannot rename {path:?}"))?;
        let note = format!(
            "{} is damaged ({error}): it is kept as {}, and the exercises count as not checked. `cargo run -p exercises -- check` checks them all.",
            path.display(),
            aside.display()
        );
        Ok((Self::default(), Some(note)))
    }

    /// Changes what is kept. Reads it anew, as `watch` and `hint` may run at the same time, and so
    /// there may be the note of [`Self::load`].
    pub fn update(root: &Path, change: impl FnOnce(&mut Self)) -> Result<Option<String>> {
        let (mut progress, note) = Self::load(root)?;
        change(&mut progress);
        let (path, new) = (file(root), root.join(FOLDER).join("progress.new"));
        let write = || {
            fs::create_dir_all(root.join(FOLDER))?;
            fs::write(&new, toml::to_string(&progress).map_err(std::io::Error::other)?)?;
            fs::rename(&new, &path)
        };
        write().with_context(|| format!("cannot write {path:?}"))?;
        Ok(note)
    }

    pub fn hints_shown(&self, exercise: &Exercise) -> usize {
        self.exercise.get(&exercise.name).map_or(0, |record| record.hints)
    }

    pub fn show_hint(&mut self, exercise: &Exercise) {
        let record = self.exercise.entry(exercise.name.clone()).or_default();
        record.hints = (record.hints + 1).min(exercise.hints.len());
    }

    /// The name of the exercise that was worked on last, which may not exist any more.
    pub fn last(&self) -> Option<&str> {
        self.last.as_deref()
    }

    pub fn set_last(&mut self, exercise: &Exercise) {
        self.last = Some(exercise.name.clone());
    }

    pub fn set_passed(&mut self, exercise: &Exercise, version: String, passed: bool) {
        let record = self.exercise.entry(exercise.name.clone()).or_default();
        record.checked = Some(Checked { version, passed });
    }

    pub fn status(&self, root: &Path, exercise: &Exercise) -> Result<Status> {
        let checked = self.exercise.get(&exercise.name).and_then(|record| record.checked.as_ref());
        let Some(checked) = checked else {
            return self.untried(root, exercise);
        };
        Ok(if checked.version != version(root, exercise)? {
            Status::Changed
        } else if checked.passed {
            Status::Passed
        } else {
            Status::NotPassed
        })
    }

    /// Whether an exercise is as it was given: it has its `todo!()`, and nobody edited its file since
    /// the last commit. A bug hunt does not show whether its bug is there.
    pub fn is_untouched(&self, root: &Path, exercise: &Exercise) -> Result<bool> {
        let edited = self.edited.get_or_init(|| originals::edited(root));
        Ok(!edited.contains(&exercise.file()) && has_todo(root, exercise)?)
    }

    /// Whether nobody has answered an exercise yet: its `todo!()` is still there, or the file with its bug
    /// is as it was given.
    pub fn is_unsolved(&self, root: &Path, exercise: &Exercise) -> Result<bool> {
        if exercise.kind == Kind::BugHunt {
            let edited = self.edited.get_or_init(|| originals::edited(root));
            return Ok(!edited.contains(&exercise.file()));
        }
        has_todo(root, exercise)
    }

    /// An exercise that was never checked. One that is as it was can't pass: its `todo!()` is still
    /// there, or its bug. The `todo!()` counts too where an answer was committed.
    fn untried(&self, root: &Path, exercise: &Exercise) -> Result<Status> {
        let edited = self.edited.get_or_init(|| originals::edited(root));
        if edited.contains(&exercise.file()) {
            return Ok(Status::Changed);
        }
        Ok(if exercise.kind == Kind::BugHunt || has_todo(root, exercise)? {
            Status::NotPassed
        } else {
            Status::Changed
        })
    }
}

/// Whether there is a `todo!()` in the code of an exercise.
fn has_todo(root: &Path, exercise: &Exercise) -> Result<bool> {
    let text = read(&root.join(exercise.file()))?;
    Ok(line_of_todo(&String::from_utf8_lossy(&text)).is_some())
}

/// The first line with a `todo!()` in code, and not in a comment, from 0.
pub fn line_of_todo(text: &str) -> Option<usize> {
    let code = |line: &str| !line.trim_start().starts_with("//");
    text.lines().position(|line| code(line) && line.contains("todo!("))
}

/// The state of the file and its suite, as a short text that differs when they do. Another
/// release of Rust may hash differently: then all is checked again.
pub fn version(root: &Path, exercise: &Exercise) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    for path in [exercise.file(), exercise.suite()] {
        read(&root.join(path))?.hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// A path in `folder` that is not taken: `name.1.extension`, or with a greater number.
pub fn free_name(folder: &Path, name: &str, extension: &str) -> PathBuf {
    let names = (1..).map(|i| folder.join(format!("{name}.{i}.{extension}")));
    let mut free = names.skip_while(|path| path.exists());
    free.next().expect("there are more numbers than files")
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {path:?}"))
}

fn file(root: &Path) -> PathBuf {
    root.join(FOLDER).join("progress.toml")
}
