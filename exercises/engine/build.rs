//! Mounts the functions that take parts over: those of the exercises in the program, and for the
//! tests the reference answers and some wrong ones.
//!
//! `YOUR_ENGINE` names the exercises of the program, all where it is not set. The others need not
//! even compile.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

include!("parts.rs");

fn main() -> io::Result<()> {
    let variable = |name| PathBuf::from(env::var_os(name).expect("cargo sets it"));
    let here = variable("CARGO_MANIFEST_DIR");
    // The package with tensors lies one folder below, and has this script too.
    let with_tensors = here.ends_with("tensors");
    let root = here.ancestors().nth(if with_tensors { 3 } else { 2 }).expect("a folder above");
    println!("cargo::rerun-if-env-changed=YOUR_ENGINE");
    println!("cargo::rerun-if-changed={}", root.join("exercises/engine/parts.rs").display());
    println!("cargo::rerun-if-changed={}", root.join("solutions/variants").display());

    let parts: Vec<Part> = PARTS.into_iter().filter(|part| with_tensors || !part.tensors).collect();
    let wanted = env::var("YOUR_ENGINE").ok();
    let yours = |part: &&Part| {
        wanted.as_ref().is_none_or(|names| names.split(',').any(|name| name == part.exercise))
    };
    let mut program = String::new();
    let mut take_over = String::new();
    for part in parts.iter().filter(yours) {
        let file = root.join("exercises/src").join(file(part));
        program += &module(root, part, part.exercise, &file);
        take_over += &taken_over(part, part.exercise);
    }
    let function = "/// The parts of the book, and those that the exercises have taken over.\n\
                    pub fn parts() -> your_engine::Parts {\n\
                    #[allow(unused_mut)]\n\
                    let mut parts = your_engine::Parts::of_the_book();\n";
    write!(program, "{function}{take_over}parts\n}}\n").expect("a String takes all");
    let out = variable("OUT_DIR");
    fs::write(out.join("exercises.rs"), program)?;
    fs::write(out.join("answers.rs"), answers(root, &parts)?)
}

/// The reference answers, each with its wrong variants.
fn answers(root: &Path, parts: &[Part]) -> io::Result<String> {
    let mut modules = String::new();
    let mut table = "pub const ANSWERS: &[Answers] = &[\n".to_owned();
    for part in parts {
        let name = part.exercise;
        modules += &module(root, part, name, &root.join("solutions/src").join(file(part)));
        write!(table, "Answers {{ part: {name:?}, right: {name}::part::take_over, wrong: &[")
            .expect("a String takes all");
        let folder = root.join("solutions/variants").join(part.chapter).join(name);
        let mut variants =
            fs::read_dir(folder)?.map(|e| Ok(e?.path())).collect::<io::Result<Vec<_>>>()?;
        variants.sort();
        for variant in variants {
            let stem = variant.file_stem().and_then(|stem| stem.to_str()).expect("a plain name");
            if stem.starts_with("wrong_") {
                let module_name = format!("{name}_{stem}");
                modules += &module(root, part, &module_name, &variant);
                write!(table, "({stem:?}, {module_name}::part::take_over),")
                    .expect("a String takes all");
            }
        }
        table += "] },\n";
    }
    Ok(modules + &table + "];\n")
}

/// A module of a file with an answer and of what puts the answer in the place of a part.
fn module(root: &Path, part: &Part, module: &str, answer: &Path) -> String {
    let name = part.exercise;
    let part = root.join("exercises/engine/parts").join(format!("{name}.rs"));
    format!(
        "#[allow(unused, invalid_nan_comparisons, clippy::all)]\nmod {module} {{\n\
         #[path = {answer:?}]\npub mod {name};\n#[path = {part:?}]\npub mod part;\n}}\n"
    )
}

fn taken_over(part: &Part, module: &str) -> String {
    let name = part.exercise;
    format!("{module}::part::take_over(&mut parts);\nparts.yours.push({name:?});\n")
}

/// The file of an exercise in the folders of exercises and of answers.
fn file(part: &Part) -> PathBuf {
    Path::new(part.chapter).join(format!("{}.rs", part.exercise))
}
