//! `cargo xtask code-size`: how much code there is, room by room, beside the goals for it.
//!
//! Counted are the lines that hold code: no blank lines, no comments or documentation, nothing that
//! is compiled for tests only.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::visit_mut::VisitMut;
use syn::{Block, ImplItemFn, ItemFn, Signature};

use crate::only_code::OnlyCode;

/// The lines that a file should not exceed.
const LONGEST_FILE: usize = 400;
/// The lines that a function should not exceed.
const LONGEST_FUNCTION: usize = 50;

/// Folders that are counted together, and the lines that they should stay under.
struct Room {
    name: &'static str,
    folders: &'static [&'static str],
    without: &'static [&'static str],
    goal: Option<usize>,
}

const ROOMS: [Room; 11] = [
    room(
        "the engine: model, kernels, kv, engine, sampling, generate",
        &[
            "src/model",
            "src/kernels",
            "src/kv",
            "src/engine",
            "src/sampling",
            "src/generate",
        ],
        Some(7_500),
    ),
    room("the library", &["src"], Some(22_000)),
    room("the server", &["server"], None),
    room("the program", &["cli"], None),
    room(
        "flags, reports and charts",
        &["examples/flags", "examples/src", "examples/tests"],
        None,
    ),
    Room {
        without: &["examples/flags", "examples/src", "examples/tests"],
        ..room("examples", &["examples"], None)
    },
    room("exercises", &["exercises"], None),
    room("solutions", &["solutions"], Some(6_000)),
    room("live", &["book/live"], None),
    room("tests and benches", &["tests", "benches"], None),
    room("xtask", &[".ci/xtask"], Some(14_000)),
];

const fn room(name: &'static str, folders: &'static [&'static str], goal: Option<usize>) -> Room {
    Room { name, folders, without: &[], goal }
}

impl Room {
    fn holds(&self, file: &Path) -> bool {
        let is_below = |folder: &&str| file.starts_with(folder);
        self.folders.iter().any(is_below) && !self.without.iter().any(is_below)
    }
}

/// A file, and what was counted in it.
struct Counted {
    path: PathBuf,
    lines: usize,
    long_functions: Vec<LongFunction>,
}

/// A function that is too long.
#[derive(Debug, PartialEq)]
struct LongFunction {
    name: String,
    lines: usize,
    /// Why it is left so, where the source says it.
    reason: Option<String>,
}

pub fn run() -> Result<()> {
    let root = crate::root();
    let files = rust_files(root)?;
    let counted: Vec<Counted> =
        files.into_iter().map(|path| count(root, path)).collect::<Result<_>>()?;

    println!("{:<60}{:>7}{:>7}{:>8}", "", "files", "lines", "goal");
    for room in &ROOMS {
        let in_room: Vec<&Counted> = counted.iter().filter(|file| room.holds(&file.path)).collect();
        let lines: usize = in_room.iter().map(|file| file.lines).sum();
        let goal = room.goal.map_or(String::new(), |goal| format!("< {goal}"));
        println!("{:<60}{:>7}{lines:>7}{goal:>8}", room.name, in_room.len());
    }

    println!();
    for (what, number, goal) in house(root)? {
        println!("{what:<60}{number:>14}{:>8}", format!("< {}", goal + 1));
    }

    println!("\nFiles of more than {LONGEST_FILE} lines:");
    for file in counted.iter().filter(|file| file.lines > LONGEST_FILE) {
        println!("{:>7}  {}", file.lines, file.path.display());
    }
    println!("\nFunctions of more than {LONGEST_FUNCTION} lines, tests apart:");
    for file in &counted {
        for LongFunction { name, lines, reason } in &file.long_functions {
            let reason = reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
            println!("{lines:>7}  {name} in {}{reason}", file.path.display());
        }
    }
    Ok(())
}

/// What is counted besides code, how much there is of it, and the most that there should be.
fn house(root: &Path) -> Result<[(&'static str, usize, usize); 3]> {
    let files = tracked(root, "*")?;
    let folders: BTreeSet<_> = files
        .iter()
        .filter(|file| file.components().count() > 1)
        .filter_map(|file| file.components().next())
        .filter(|folder| !folder.as_os_str().to_string_lossy().starts_with('.'))
        .collect();
    let packages = files.iter().filter(|file| file.ends_with("Cargo.toml")).count();
    let is_variant = |file: &&PathBuf| {
        file.starts_with("solutions")
            && file.extension().is_some_and(|extension| extension == "toml")
    };
    let mut variants = 0;
    for file in files.iter().filter(is_variant).filter(|file| !file.ends_with("Cargo.toml")) {
        variants += fs::read_to_string(root.join(file))?.lines().count();
    }
    Ok([
        ("folders that the root shows", folders.len(), 10),
        ("packages", packages, 12),
        ("lines of TOML with variants of answers", variants, 8_500),
    ])
}

/// The files that git knows, relative to `root`, without modules of tests that are files.
fn rust_files(root: &Path) -> Result<Vec<PathBuf>> {
    let files = tracked(root, "*.rs")?;
    Ok(files.into_iter().filter(|file| !file.ends_with("tests.rs")).collect())
}

/// The files that git knows and whose name fits, relative to `root`.
fn tracked(root: &Path, pattern: &str) -> Result<Vec<PathBuf>> {
    let output = Command::new("git").args(["ls-files", pattern]).current_dir(root).output();
    let output = output.context("cannot start git")?;
    ensure!(output.status.success(), "git: {}", String::from_utf8_lossy(&output.stderr));
    let files = String::from_utf8(output.stdout)?;
    // A file may have been deleted, and not yet committed so.
    Ok(files.lines().map(PathBuf::from).filter(|file| root.join(file).is_file()).collect())
}

fn count(root: &Path, path: PathBuf) -> Result<Counted> {
    let text = fs::read_to_string(root.join(&path)).with_context(|| format!("{path:?}"))?;
    let mut file = syn::parse_file(&text).with_context(|| format!("{path:?} is not Rust"))?;
    OnlyCode.visit_file_mut(&mut file);
    let mut functions = Functions { text: &text, found: Vec::new() };
    // Files of tests are all test; what is long there is said of the file alone.
    if !path.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "suite") {
        functions.visit_file(&file);
    }
    Ok(Counted { path, lines: lines(file), long_functions: functions.found })
}

/// The number of lines that hold a token.
fn lines(code: impl ToTokens) -> usize {
    let mut lines = BTreeSet::new();
    collect(code.into_token_stream(), &mut lines);
    lines.len()
}

fn collect(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                lines.extend([
                    group.span_open().start().line,
                    group.span_close().end().line,
                ]);
                collect(group.stream(), lines);
            }
            // A text may go over several lines.
            other => lines.extend(other.span().start().line..=other.span().end().line),
        }
    }
}

/// The functions of a file that are too long.
struct Functions<'a> {
    text: &'a str,
    found: Vec<LongFunction>,
}

impl Functions<'_> {
    fn add(&mut self, signature: &Signature, block: &Block) {
        let lines = lines(block);
        if lines > LONGEST_FUNCTION {
            let reason = reason(self.text, signature.fn_token.span.start().line);
            self.found.push(LongFunction {
                name: signature.ident.to_string(),
                lines,
                reason: reason.map(str::to_owned),
            });
        }
    }
}

/// Why a function is long whose `fn` is in `line`, from 1: what `// Long: ` says above it and its
/// attributes, or `//! Long: ` of all functions of the file.
fn reason(text: &str, line: usize) -> Option<&str> {
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let above = lines[..line - 1].iter().rev().find(|line| !line.starts_with("#["));
    let of_function = above.and_then(|line| line.strip_prefix("// Long: "));
    of_function.or_else(|| lines.iter().find_map(|line| line.strip_prefix("//! Long: ")))
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(text: &str) -> usize {
        let mut file = syn::parse_file(text).unwrap();
        OnlyCode.visit_file_mut(&mut file);
        lines(file)
    }

    #[test]
    fn comments_blank_lines_and_tests_do_not_count() {
        let text = "//! Docs.\n\nuse a::B;\n\n/// Docs.\n/// More.\nfn f() {\n    // Why.\n    g(\n        1,\n    );\n}\n\n#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n";
        assert_eq!(lines_of(text), 6);
        assert_eq!(lines_of("const A: &str = \"a\nb\nc\";\n"), 3);
        assert_eq!(lines_of("#[derive(Debug)]\nstruct A;\n"), 2);
        let of_a_mod = |condition: &str| lines_of(&format!("#[cfg({condition})]\nmod m {{}}\n"));
        assert_eq!(of_a_mod("all(test, feature = \"flex\")"), 0);
        assert_eq!(of_a_mod("all(unix, feature = \"flex\")"), 2);
        assert_eq!(of_a_mod("any(test, feature = \"flex\")"), 2);
    }

    fn function(calls: usize) -> String {
        format!("fn f() {{\n{}}}\n", "    g();\n".repeat(calls))
    }

    fn too_long(text: &str) -> Vec<LongFunction> {
        let mut functions = Functions { text, found: Vec::new() };
        functions.visit_file(&syn::parse_file(text).unwrap());
        functions.found
    }

    #[test]
    fn a_function_is_too_long_by_the_lines_of_its_body() {
        assert_eq!(too_long(&function(48)), []);
        let expected = LongFunction { name: "f".to_owned(), lines: 51, reason: None };
        assert_eq!(too_long(&function(49)), [expected]);
    }

    #[test]
    fn the_reason_of_a_long_function_is_said_above_it_or_of_the_whole_file() {
        for (before, expected) in [
            ("// Long: a table.\n", Some("a table.")),
            ("mod m {}\n\n/// F.\n// Long: a table.\n#[inline]\n", Some("a table.")),
            ("//! Plots.\n//!\n//! Long: each a plot.\n\n", Some("each a plot.")),
            ("//! Long: each a plot.\n// Long: a table.\n", Some("a table.")),
            ("// Long: a table.\nfn g() {}\n", None),
        ] {
            let found = too_long(&(before.to_owned() + &function(49)));
            assert_eq!(found[0].reason.as_deref(), expected, "{before:?}");
        }
    }

    #[test]
    fn a_room_has_its_folders_and_not_those_of_another() {
        let room = |name: &str| ROOMS.iter().find(|room| room.name.starts_with(name)).unwrap();
        assert!(room("the library").holds(Path::new("src/kv/pool.rs")));
        assert!(!room("examples").holds(Path::new("examples/src/cli/report.rs")));
        assert!(room("flags").holds(Path::new("examples/src/cli/report.rs")));
    }
}
