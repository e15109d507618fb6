//! One module for every stub, answer and variant, with its exercise's suite next to it.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result};

#[path = "edits/mod.rs"]
mod edits;

fn main() -> Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").context("cargo sets it")?);
    let out = PathBuf::from(env::var_os("OUT_DIR").context("cargo sets it")?);
    let root = here.parent().context("a folder above")?;
    let only = env::var("ONLY_EXERCISES").ok();
    let wanted = |exercise: &String| {
        only.as_ref().is_none_or(|names| names.split(',').any(|name| name == exercise))
    };
    println!("cargo::rerun-if-env-changed=ONLY_EXERCISES");
    // A folder is watched as a whole: a file that is added to it makes this run again.
    for folder in ["src", "variants"] {
        println!("cargo::rerun-if-changed={}", here.join(folder).display());
    }

    let mut modules = String::new();
    let variants = here.join("variants");
    for chapter in names(&variants, Path::is_dir)? {
        writeln!(modules, "mod {chapter} {{")?;
        let exercises = names(&variants.join(&chapter), |_| true)?;
        for exercise in exercises.iter().filter(|name| wanted(name)) {
            modules += &exercise_module(root, &out, &chapter, exercise)?;
        }
        modules += "}\n";
    }
    fs::write(out.join("variants.rs"), modules)?;
    Ok(())
}

/// Wrong answers are written as people write them, and stubs use nothing.
const ALLOWED: &str = "#[allow(unused, invalid_nan_comparisons, clippy::all)]\n";

fn exercise_module(root: &Path, out: &Path, chapter: &str, exercise: &str) -> Result<String> {
    let file_in =
        |folder: &str| root.join(folder).join(chapter).join(exercise).with_extension("rs");
    let suite = file_in("exercises/suite");
    let mut files = vec![
        ("stub".to_owned(), file_in("exercises/src")),
        ("answer".to_owned(), file_in("solutions/src")),
    ];
    for variant in edits::variants(root, chapter, exercise)? {
        let name = variant.name.clone();
        files.push((name, variant.written(&out.join(chapter).join(exercise))?));
    }
    let mut module = format!("mod {exercise} {{\n");
    for (name, file) in files {
        // Clippy reads the answer, and beneath it the suite, once. An answer may leave fields of a type unused.
        let allowed = if name == "answer" {
            "#[allow(dead_code)]\n"
        } else {
            ALLOWED
        };
        write!(
            module,
            "{allowed}mod {name} {{\n#[path = {file:?}]\nmod {exercise};\n\
             #[path = {suite:?}]\nmod {exercise}_tests;\n}}\n",
        )?;
    }
    Ok(module + "}\n")
}

/// The names of what lies in a folder, without the ends of files: the edits of an exercise and its
/// files have one name.
fn names(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if wanted(&path) {
            let name =
                path.file_stem().and_then(|name| name.to_str()).context("names are plain")?;
            names.insert(name.to_owned());
        }
    }
    Ok(names)
}
