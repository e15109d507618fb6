//! Checks that all required files exist, and that no other files do.

use std::collections::BTreeSet;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use exercises_runner::manifest::{Chapter, Exercise, Manifest};

use super::edits;

/// The missing files of an exercise.
pub fn problems(root: &Path, exercise: &Exercise) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for path in [exercise.file(), exercise.suite(), exercise.solution()] {
        if !root.join(&path).is_file() {
            problems.push(format!("{} is missing", path.display()));
        }
    }
    // Variants are edits of the answer.
    if !problems.is_empty() {
        return Ok(problems);
    }
    problems.extend(problems_of_variants(root, exercise)?);
    let (chapter, name) = (exercise.chapter.module(), &exercise.name);
    let stubs = if exercise.tensors {
        "tensors.rs".into()
    } else {
        format!("{chapter}/mod.rs")
    };
    let module = format!("mod {name};");
    let suite = format!("#[path = \"../../suite/{chapter}/{name}.rs\"]\nmod {name}_tests;");
    let path = format!("exercises/src/{stubs}");
    let text = fs::read_to_string(root.join(&path)).unwrap_or_default();
    let text: Vec<&str> = text.lines().map(str::trim_start).collect();
    let text = text.join("\n");
    for line in [module, suite] {
        if !text.contains(line.as_str()) {
            problems.push(format!("{path} does not hold `{}`", line.replace('\n', " ")));
        }
    }
    Ok(problems)
}

/// How many variants an exercise has: one for each misconception that the suite tells from others.
const WRONG: RangeInclusive<usize> = 3..=8;
const RIGHT: RangeInclusive<usize> = 1..=2;

/// Variants that are too few or too many, lack a name or a reason, or are another one under a second name.
fn problems_of_variants(root: &Path, exercise: &Exercise) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let variants = edits::variants(root, exercise.chapter.module(), &exercise.name)?;
    let right = variants.iter().filter(|variant| variant.is_right()).count();
    let wrong = variants.iter().filter(|variant| variant.name.starts_with("wrong_")).count();
    let [edits, files] = variant_paths(exercise);
    if !WRONG.contains(&wrong) || !RIGHT.contains(&right) {
        problems.push(format!(
            "{} and {}: {wrong} wrong and {right} right, and not 3 to 8 and 1 or 2",
            edits.display(),
            files.display()
        ));
    }
    for (i, variant) in variants.iter().enumerate() {
        let name = &variant.name;
        if !name.starts_with("wrong_") && !name.starts_with("right_") {
            problems.push(format!("{name}: a variant's name begins with `wrong_` or `right_`"));
        }
        if variant.why.is_empty() {
            problems.push(format!("{name} does not say why"));
        }
        if let Some(same) = variants[..i].iter().find(|other| other.text == variant.text) {
            problems.push(format!("{name} is the same as {}", same.name));
        }
    }
    Ok(problems)
}

/// Files that are not in the manifest.
pub fn strays(root: &Path, manifest: &Manifest) -> Result<Vec<String>> {
    let mut known = BTreeSet::new();
    for exercise in &manifest.exercises {
        known.extend([exercise.file(), exercise.suite(), exercise.solution()]);
        known.extend(variant_paths(exercise));
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

/// Where the variants of an exercise lie: edits of its answer, and files.
fn variant_paths(exercise: &Exercise) -> [PathBuf; 2] {
    let files =
        Path::new("solutions/variants").join(exercise.chapter.module()).join(&exercise.name);
    [files.with_extension("toml"), files]
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
        ] {
            write(&root, file, "pub fn f() {}\n");
        }
        for name in ["right_a", "wrong_a"] {
            let file = format!("solutions/variants/top_k/ties/{name}.rs");
            write(&root, &file, &format!("//! Why\npub fn f() {{}} // {name}\n"));
        }
        let edit = |name: &str| format!("[{name}]\nwhy = 'w'\nfrom = 'f()'\nto = '{name}()'\n");
        write(
            &root,
            "solutions/variants/top_k/ties.toml",
            &["wrong_b", "wrong_c"].map(edit).concat(),
        );
        let stubs = "mod ties;\n\n#[path = \"../../suite/top_k/ties.rs\"]\nmod ties_tests;\n";
        write(&root, "exercises/src/top_k/mod.rs", stubs);
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
            ("solutions/variants/top_k/ties/wrong_a.rs", "2 wrong and 1 right"),
            ("solutions/variants/top_k/ties/right_a.rs", "3 wrong and 0 right"),
            ("exercises/src/top_k/mod.rs", "does not hold `mod ties;`"),
        ] {
            let root = project();
            fs::remove_file(root.path().join(file)).unwrap();
            let problems = problems_of(&root);
            assert!(problems.contains(problem), "{file}: {problems}");
        }
    }

    #[test]
    fn variants_beyond_the_most_different_ones_are_seen() {
        let root = project();
        for i in 0..6 {
            let file = format!("solutions/variants/top_k/ties/wrong_more_{i}.rs");
            write(&root, &file, &format!("//! Why\npub fn f() {{}} // {i}\n"));
        }
        assert!(problems_of(&root).contains("9 wrong and 1 right, and not 3 to 8"));
    }

    #[test]
    fn a_suite_that_is_not_mounted_and_a_variant_without_name_or_reason_are_seen() {
        let root = project();
        write(&root, "exercises/src/top_k/mod.rs", "mod ties;\n");
        write(&root, "solutions/variants/top_k/ties/perhaps.rs", "pub fn f() {}\n");
        let problems = problems_of(&root);
        assert!(problems.contains("mod ties_tests;"), "{problems}");
        assert!(problems.contains("perhaps: a variant's name begins with"), "{problems}");
        assert!(problems.contains("perhaps does not say why"), "{problems}");
    }

    #[test]
    fn a_variant_that_is_there_under_two_names_is_seen() {
        let root = project();
        let ties = root.path().join("solutions/variants/top_k/ties");
        fs::copy(ties.join("wrong_a.rs"), ties.join("wrong_d.rs")).unwrap();
        assert_eq!(problems_of(&root), "wrong_d is the same as wrong_a");
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
            "solutions/variants/top_k/old.toml",
        ] {
            let root = project();
            write(&root, file, "");
            let strays = strays(root.path(), &manifest).unwrap();
            assert_eq!(strays.len(), 1, "{file}: {strays:?}");
            assert!(strays[0].contains("old"), "{strays:?}");
        }
    }
}
