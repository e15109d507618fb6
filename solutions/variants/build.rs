//! One module for every variant, with its exercise's suite beside it.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let only = env::var("ONLY_EXERCISE").ok();
    println!("cargo::rerun-if-env-changed=ONLY_EXERCISE");
    // A folder is watched as a whole: a file that is added to it makes this run again.
    println!("cargo::rerun-if-changed={}", here.display());

    let mut modules = String::new();
    for chapter in folders(&here)? {
        writeln!(modules, "mod {} {{", name(&chapter)).expect("a String takes all");
        for exercise in folders(&chapter)? {
            if only.as_deref().is_none_or(|only| only == name(&exercise)) {
                modules += &exercise_module(&here, &chapter, &exercise)?;
            }
        }
        modules += "}\n";
    }
    fs::write(out.join("variants.rs"), modules)
}

fn exercise_module(here: &Path, chapter: &Path, exercise: &Path) -> io::Result<String> {
    let name_of_exercise = name(exercise);
    let suite = here
        .join("../../exercises/suite")
        .join(name(chapter))
        .join(format!("{name_of_exercise}.rs"));
    let mut module = format!("mod {name_of_exercise} {{\n");
    for variant in entries(exercise)? {
        writeln!(
            module,
            "mod {} {{\n#[path = {variant:?}]\nmod {name_of_exercise};\n#[path = {suite:?}]\nmod {name_of_exercise}_tests;\n}}",
            name(&variant),
        )
        .expect("a String takes all");
    }
    Ok(module + "}\n")
}

fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries = entries(folder)?;
    entries.retain(|path| path.is_dir());
    Ok(entries)
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|e| Ok(e?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn name(path: &Path) -> &str {
    path.file_stem().and_then(|name| name.to_str()).expect("names are plain")
}
