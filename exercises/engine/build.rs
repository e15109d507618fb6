//! Mounts the functions that take parts over: the reference answers in the book's engine, the
//! learner's in the program, and for the tests all reference answers and some wrong ones.
//!
//! `YOUR_ENGINE` names the exercises of the program, all if it is not set. The others don't even have
//! to compile.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::Result;

#[path = "../../solutions/edits/mod.rs"]
mod edits;

include!("parts.rs");

fn main() -> Result<()> {
    let variable = |name| PathBuf::from(env::var_os(name).expect("cargo sets it"));
    let here = variable("CARGO_MANIFEST_DIR");
    let with_tensors = env::var_os("CARGO_FEATURE_TENSORS").is_some();
    let root = here.ancestors().nth(2).expect("a folder above");
    println!("cargo::rerun-if-env-changed=YOUR_ENGINE");
    println!("cargo::rerun-if-changed={}", root.join("exercises/engine/parts.rs").display());
    println!("cargo::rerun-if-changed={}", root.join("solutions").display());

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
    write!(program, "{function}{take_over}parts\n}}\n")?;
    let out = variable("OUT_DIR");
    fs::write(out.join("exercises.rs"), program)?;
    fs::write(out.join("answers.rs"), answers(root, &out, &parts)?)?;
    fs::write(out.join("book.rs"), book(root)?)?;
    Ok(())
}

/// The parts that the book's engine has in `src/book`, except the ones with tensors.
const IN_BOOK: [&str; 6] = [
    "at_temperature",
    "group_product",
    "incremental_decode",
    "microkernel",
    "nucleus",
    "stop_strings",
];

/// The reference answers in the book's engine.
fn book(root: &Path) -> Result<String> {
    let mut modules = String::new();
    let mut take_over = String::new();
    for part in PARTS.iter().filter(|part| !part.tensors && !IN_BOOK.contains(&part.exercise)) {
        let name = part.exercise;
        modules += &module(root, part, name, &root.join("solutions/src").join(file(part)));
        writeln!(take_over, "{name}::part::take_over(parts);")?;
    }
    Ok(format!(
        "{modules}pub fn take_over(parts: &mut crate::Parts) {{\n{take_over}}}\n"
    ))
}

/// The reference answers, each with the wrong variants that a test names: all of them would take minutes.
fn answers(root: &Path, out: &Path, parts: &[Part]) -> Result<String> {
    let tests = tests(Path::new("tests"))?;
    let mut modules = String::new();
    let mut table = "pub const ANSWERS: &[Answers] = &[\n".to_owned();
    for part in parts {
        let name = part.exercise;
        modules += &module(root, part, name, &root.join("solutions/src").join(file(part)));
        write!(table, "Answers {{ part: {name:?}, right: {name}::part::take_over, wrong: &[")?;
        let mut variants = edits::variants(root, part.chapter, name)?;
        let is_named = |name: &str| tests.contains(&format!("{name:?}"));
        variants.retain(|variant| !variant.is_right() && is_named(&variant.name));
        for variant in variants {
            let wrong = variant.name.clone();
            let module_name = format!("{name}_{wrong}");
            let file = variant.written(&out.join(name))?;
            modules += &module(root, part, &module_name, &file);
            write!(table, "({wrong:?}, {module_name}::part::take_over),")?;
        }
        table += "] },\n";
    }
    Ok(modules + &table + "];\n")
}

/// The text of all tests in a folder.
fn tests(folder: &Path) -> Result<String> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut text = String::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        text += &if path.is_dir() {
            tests(&path)?
        } else {
            fs::read_to_string(path)?
        };
    }
    Ok(text)
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
