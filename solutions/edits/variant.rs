//! The variants of one exercise, whether edits or files.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::edit::Edits;

/// An answer that the suite must reject or accept.
#[derive(Debug)]
pub struct Variant {
    /// Begins with `wrong_` or `right_`.
    pub name: String,
    /// What the mistake is, or what is done in another way.
    pub why: String,
    /// What the first message that a learner sees must hold, where the rule could be mistaken for another.
    pub says: Option<String>,
    pub text: String,
    /// If it is a separate file.
    pub file: Option<PathBuf>,
}

impl Variant {
    /// Whether the suite must accept it.
    pub fn is_right(&self) -> bool {
        self.name.starts_with("right_")
    }

    /// Its own file, or one that is written into this folder.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn written(self, folder: &Path) -> Result<PathBuf> {
        if let Some(file) = self.file {
            return Ok(file);
        }
        let path = folder.join(&self.name).with_extension("rs");
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&path, self.text))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}

/// The variants of an exercise, sorted by name. `root` is the folder of the whole project.
///
/// # Errors
/// A file that is not what it must be, an edit that does not fit the answer, a name that is there
/// twice.
pub fn variants(root: &Path, chapter: &str, exercise: &str) -> Result<Vec<Variant>> {
    let folder = root.join("solutions/variants").join(chapter);
    let mut variants = edited(root, &folder, chapter, exercise)?;
    variants.extend(whole(&folder.join(exercise))?);
    variants.sort_by(|a, b| a.name.cmp(&b.name));
    for two in variants.windows(2) {
        if two[0].name == two[1].name {
            bail!("{chapter}/{exercise}: {} is a table and a file", two[0].name);
        }
    }
    Ok(variants)
}

fn edited(root: &Path, folder: &Path, chapter: &str, exercise: &str) -> Result<Vec<Variant>> {
    let path = folder.join(exercise).with_extension("toml");
    let Some(text) = where_it_exists(fs::read_to_string(&path))
        .with_context(|| format!("cannot read {}", path.display()))?
    else {
        return Ok(Vec::new());
    };
    let tables: BTreeMap<String, Edits> =
        toml::from_str(&text).with_context(|| format!("{} is wrong", path.display()))?;
    let answer = root.join("solutions/src").join(chapter).join(exercise).with_extension("rs");
    let answer = read(&answer)?;
    let variant = |(name, edits): (String, Edits)| {
        let text = edits.of(&answer).with_context(|| format!("{chapter}/{exercise}, {name}"))?;
        Ok(Variant { name, why: edits.why, says: edits.says, text, file: None })
    };
    tables.into_iter().map(variant).collect()
}

fn whole(folder: &Path) -> Result<Vec<Variant>> {
    let Some(entries) = where_it_exists(fs::read_dir(folder))
        .with_context(|| format!("cannot read {}", folder.display()))?
    else {
        return Ok(Vec::new());
    };
    let mut variants = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension() != Some(OsStr::new("rs")) {
            bail!("{} is not a file of Rust", path.display());
        }
        let name = path.file_stem().and_then(OsStr::to_str).context("names are plain")?.to_owned();
        let text = read(&path)?;
        let docs: Vec<&str> =
            text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
        let why = docs.join(" ");
        variants.push(Variant { name, why, says: None, text, file: Some(path) });
    }
    Ok(variants)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn where_it_exists<T>(found: std::io::Result<T>) -> std::io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn project(files: &[(&str, &str)]) -> TempDir {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = root.path().join("solutions").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    const ANSWER: (&str, &str) = ("src/top_k/ties.rs", "fn f() -> u8 {\n    1\n}\n");

    #[test]
    fn edits_and_files_are_variants() {
        let root = project(&[
            ANSWER,
            ("variants/top_k/ties.toml", "[wrong_two]\nwhy = 'Two.'\nfrom = '1'\nto = '2'\n"),
            (
                "variants/top_k/ties/right_shift.rs",
                "//! By a\n//! shift.\n\nfn f() -> u8 {\n    2 >> 1\n}\n",
            ),
        ]);
        let found = variants(root.path(), "top_k", "ties").unwrap();
        let names: Vec<&str> = found.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!(names, ["right_shift", "wrong_two"]);
        assert!(found[0].is_right() && !found[1].is_right());
        assert_eq!([&found[0].why, &found[1].why], ["By a shift.", "Two."]);

        let out = root.path().join("out");
        let files: Vec<PathBuf> = found.into_iter().map(|v| v.written(&out).unwrap()).collect();
        assert!(files[0].ends_with("variants/top_k/ties/right_shift.rs"));
        assert_eq!(files[1], out.join("wrong_two.rs"));
        assert_eq!(fs::read_to_string(&files[1]).unwrap(), "fn f() -> u8 {\n    2\n}\n");
    }

    #[test]
    fn an_exercise_without_variants_has_none() {
        assert!(variants(project(&[ANSWER]).path(), "top_k", "ties").unwrap().is_empty());
    }

    #[test]
    fn an_edit_that_does_not_fit_names_exercise_variant_and_text() {
        let table = "[wrong_two]\nwhy = 'Two.'\nfrom = '3'\nto = '2'\n";
        let root = project(&[ANSWER, ("variants/top_k/ties.toml", table)]);
        let error = variants(root.path(), "top_k", "ties").unwrap_err();
        assert_eq!(
            format!("{error:#}"),
            "top_k/ties, wrong_two: `from` is in the answer 0 times, not once:\n3"
        );
    }

    #[test]
    fn a_name_that_is_there_twice_is_an_error() {
        let root = project(&[
            ANSWER,
            ("variants/top_k/ties.toml", "[wrong_two]\nwhy = 'Two.'\nfrom = '1'\nto = '2'\n"),
            ("variants/top_k/ties/wrong_two.rs", "fn f() -> u8 {\n    2\n}\n"),
        ]);
        let error = variants(root.path(), "top_k", "ties").unwrap_err();
        assert_eq!(error.to_string(), "top_k/ties: wrong_two is a table and a file");
    }
}
