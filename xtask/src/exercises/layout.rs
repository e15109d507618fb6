//! Checks that all required files exist, and that no other files do.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use exercises_runner::manifest::{Chapter, Exercise, Manifest};

/// An answer that the suite must reject or accept.
pub struct Variant {
    /// The file name without `.rs`.
    pub name: String,
    pub path: PathBuf,
}

impl Variant {
    /// Whether the suite must accept it.
    pub fn is_right(&self) -> bool {
        self.name.starts_with("right_")
    }
}

/// The variants of an exercise, sorted by name.
pub fn variants(root: &Path, exercise: &Exercise) -> Result<Vec<Variant>> {
    let files = rust_files(&root.join(variants_folder(exercise)))?;
    let variant = |path: PathBuf| {
        let name = path.file_stem().and_then(|name| name.to_str()).context("a plain name")?;
        Ok(Variant { name: name.to_owned(), path })
    };
    files.into_iter().map(variant).collect()
}

/// The missing files of an exercise.
pub fn problems(root: &Path, exercise: &Exercise) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for path in [exercise.file(), exercise.suite(), exercise.solution()] {
        if !root.join(&path).is_file() {
            problems.push(format!("{} is missing", path.display()));
        }
    }
    let variants = variants(root, exercise)?;
    let right = variants.iter().filter(|variant| variant.is_right()).count();
    let wrong = variants.iter().filter(|variant| variant.name.starts_with("wrong_")).count();
    let folder = variants_folder(exercise);
    if wrong < 3 || right < 1 {
        problems.push(format!(
            "{}: {wrong} wrong_*.rs and {right} right_*.rs, but at least 3 and 1 are needed",
            folder.display()
        ));
    }
    if right + wrong < variants.len() {
        problems
            .push(format!("{}: a name begins with `wrong_` or with `right_`", folder.display()));
    }
    let (chapter, name) = (exercise.chapter.module(), &exercise.name);
    let stubs = if exercise.tensors {
        "tensors.rs".into()
    } else {
        format!("{chapter}/mod.rs")
    };
    for (path, mount) in [
        (format!("exercises/src/{stubs}"), "../../suite"),
        (format!("solutions/src/{chapter}/mod.rs"), "../../../exercises/suite"),
    ] {
        let text = fs::read_to_string(root.join(&path)).unwrap_or_default();
        let text: Vec<&str> = text.lines().map(str::trim_start).collect();
        let text = text.join("\n");
        for line in [
            format!("mod {name};"),
            format!("#[path = \"{mount}/{chapter}/{name}.rs\"]\nmod {name}_tests;"),
        ] {
            if !text.contains(&line) {
                problems.push(format!("{path} does not hold `{}`", line.replace('\n', " ")));
            }
        }
    }
    Ok(problems)
}

/// Files that are not in the manifest.
pub fn strays(root: &Path, manifest: &Manifest) -> Result<Vec<String>> {
    let mut known = BTreeSet::new();
    for exercise in &manifest.exercises {
        known.extend([exercise.file(), exercise.suite(), exercise.solution()]);
        known.insert(variants_folder(exercise));
    }
    let mut strays = Vec::new();
    for chapter in Chapter::ALL {
        for folder in [
            "exercises/src",
            "exercises/suite",
            "solutions/src",
            "solutions/variants",
        ] {
            let folder = Path::new(folder).join(chapter.module());
            for name in names(&root.join(&folder))? {
                let path = folder.join(&name);
                if name != "mod.rs" && !known.contains(&path) {
                    strays.push(format!("{} belongs to no exercise of info.toml", path.display()));
                }
            }
        }
    }
    Ok(strays)
}

fn variants_folder(exercise: &Exercise) -> PathBuf {
    Path::new("solutions/variants").join(exercise.chapter.module()).join(&exercise.name)
}

fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let names = names(folder)?;
    Ok(names.iter().filter(|name| name.ends_with(".rs")).map(|name| folder.join(name)).collect())
}

/// The sorted contents of a folder; empty if there is none.
fn names(folder: &Path) -> Result<Vec<String>> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(Vec::new());
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry?.file_name().into_string().ok().context("names are plain")?);
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    const MANIFEST: &str = "[[exercise]]\nname = \"ties\"\nchapter = \"top_k\"\ntitle = \"T\"\nlevel = 1\nminutes = 10\nshort_path = true\nhints = [\"a\", \"b\", \"c\"]\n";

    /// A project with one complete exercise.
    fn project() -> TempDir {
        let root = tempfile::tempdir().unwrap();
        for file in [
            "exercises/src/top_k/ties.rs",
            "exercises/suite/top_k/ties.rs",
            "solutions/src/top_k/ties.rs",
            "solutions/variants/top_k/ties/right_a.rs",
            "solutions/variants/top_k/ties/wrong_a.rs",
            "solutions/variants/top_k/ties/wrong_b.rs",
            "solutions/variants/top_k/ties/wrong_c.rs",
        ] {
            write(&root, file, "pub fn f() {}\n");
        }
        for (package, mount) in [
            ("exercises", "../../suite"),
            ("solutions", "../../../exercises/suite"),
        ] {
            let text =
                format!("mod ties;\n\n#[path = \"{mount}/top_k/ties.rs\"]\nmod ties_tests;\n");
            write(&root, &format!("{package}/src/top_k/mod.rs"), &text);
        }
        root
    }

    fn write(root: &TempDir, file: &str, text: &str) {
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn problems_of(root: &TempDir) -> String {
        let manifest = Manifest::parse(MANIFEST).unwrap();
        problems(root.path(), &manifest.exercises[0]).unwrap().join("\n")
    }

    #[test]
    fn a_complete_exercise_has_no_problems() {
        let root = project();
        assert_eq!(problems_of(&root), "");
        let manifest = Manifest::parse(MANIFEST).unwrap();
        assert!(strays(root.path(), &manifest).unwrap().is_empty());
    }

    #[test]
    fn what_is_missing_is_named() {
        for (file, problem) in [
            ("exercises/suite/top_k/ties.rs", "exercises/suite/top_k/ties.rs is missing"),
            ("solutions/src/top_k/ties.rs", "solutions/src/top_k/ties.rs is missing"),
            ("solutions/variants/top_k/ties/wrong_a.rs", "2 wrong_*.rs and 1 right_*.rs"),
            ("solutions/variants/top_k/ties/right_a.rs", "3 wrong_*.rs and 0 right_*.rs"),
            ("exercises/src/top_k/mod.rs", "does not hold `mod ties;`"),
        ] {
            let root = project();
            fs::remove_file(root.path().join(file)).unwrap();
            let problems = problems_of(&root);
            assert!(problems.contains(problem), "{file}: {problems}");
        }
    }

    #[test]
    fn a_suite_that_is_not_mounted_and_a_badly_named_variant_are_seen() {
        let root = project();
        write(&root, "solutions/src/top_k/mod.rs", "pub mod ties;\n");
        write(&root, "solutions/variants/top_k/ties/perhaps.rs", "pub fn f() {}\n");
        let problems = problems_of(&root);
        assert!(problems.contains("mod ties_tests;"), "{problems}");
        assert!(problems.contains("a name begins with `wrong_`"), "{problems}");
    }

    #[test]
    fn an_exercise_with_tensors_is_mounted_in_a_file_of_its_own() {
        let root = project();
        let with_tensors = format!("{MANIFEST}tensors = true\n");
        let manifest = Manifest::parse(&with_tensors).unwrap();
        let problems = || problems(root.path(), &manifest.exercises[0]).unwrap().join("\n");
        assert!(problems().contains("exercises/src/tensors.rs does not hold `mod ties;`"));
        let mounted = "mod top_k {\n    mod ties;\n\n    #[path = \"../../suite/top_k/ties.rs\"]\n    mod ties_tests;\n}\n";
        write(&root, "exercises/src/tensors.rs", mounted);
        assert_eq!(problems(), "");
    }

    #[test]
    fn a_file_of_no_exercise_is_a_stray() {
        let manifest = Manifest::parse(MANIFEST).unwrap();
        for file in [
            "exercises/src/top_k/old.rs",
            "exercises/suite/greedy/old.rs",
            "solutions/variants/top_k/old/wrong_a.rs",
        ] {
            let root = project();
            write(&root, file, "");
            let strays = strays(root.path(), &manifest).unwrap();
            assert_eq!(strays.len(), 1, "{file}: {strays:?}");
            assert!(strays[0].contains("old"), "{strays:?}");
        }
    }
}
