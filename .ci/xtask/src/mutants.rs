//! `cargo xtask mutants`: bugs that others had, planted into the scheduler and into the threads
//! around it, must be found by their tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;

use anyhow::{Context, Result, ensure};
use exercises_runner::cargo::cargo;
use serde::Deserialize;
use toml::{Table, Value};

/// Tests, and the bugs that they must find: `mutants.toml`.
#[derive(Deserialize)]
struct Suite {
    /// Which tests, as arguments of `cargo test`.
    #[serde(borrow)]
    tests: Vec<&'static str>,
    mutants: Vec<Mutant>,
}

/// A bug: texts of files, and what takes their places.
#[derive(Deserialize)]
struct Mutant {
    name: &'static str,
    /// The test that must fail.
    test: &'static str,
    #[serde(flatten)]
    edit: Edit,
    #[serde(default)]
    and: Vec<Edit>,
}

#[derive(Deserialize)]
struct Edit {
    /// Below `src`.
    file: &'static str,
    from: &'static str,
    to: &'static str,
}

fn suites() -> Result<BTreeMap<&'static str, Suite>> {
    toml::from_str(include_str!("mutants.toml")).context("mutants.toml, which has no escapes")
}

pub fn run() -> Result<()> {
    // All of them, so that one run says what both miss.
    let results: Vec<_> = suites()?.iter().map(|(name, suite)| suite.find_all(name)).collect();
    results.into_iter().collect()
}

impl Mutant {
    fn edits(&self) -> impl Iterator<Item = &Edit> {
        [&self.edit].into_iter().chain(&self.and)
    }
}

impl Edit {
    /// The file below `source` as the edit leaves it.
    ///
    /// # Errors
    /// A file that does not have the text once.
    fn applied(&self, source: &Path) -> Result<String> {
        let Self { file, from, to } = self;
        let text = fs::read_to_string(source.join(file)).with_context(|| file.to_string())?;
        let places = text.matches(from).count();
        ensure!(places == 1, "`{from}` is in src/{file} {places} times, not once");
        Ok(text.replace(from, to))
    }
}

/// A copy of the packages that the tests need, where bugs are planted.
const FOLDER: &str = "target/mutants/workspace";

impl Suite {
    /// # Errors
    /// A bug that no test finds; a test that fails without any; a mutant that cannot be planted.
    fn find_all(&self, suite: &str) -> Result<()> {
        write()?;
        ensure!(self.passes("")?, "the tests of the {suite} fail without a mutant");
        let mut missed = Vec::new();
        for mutant in &self.mutants {
            let Mutant { name, test, .. } = mutant;
            write()?;
            for edit in mutant.edits() {
                let source = Path::new(FOLDER).join("src");
                let text = edit.applied(&source).with_context(|| format!("mutant: {name}"))?;
                fs::write(source.join(edit.file), text)?;
            }
            if self.passes(test)? {
                missed.push(format!("`{test}` does not find this bug: {name}"));
            } else {
                println!("found: {name}");
            }
        }
        ensure!(missed.is_empty(), "{}", missed.join("\n"));
        Ok(())
    }

    /// Whether the tests with this in their name pass. What does not compile is an error.
    fn passes(&self, test: &str) -> Result<bool> {
        let built = self.cargo(&["--no-run"])?;
        ensure!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let ran = self.cargo(&[test])?;
        let is_one = String::from_utf8_lossy(&ran.stdout).contains("running 1 test\n");
        ensure!(test.is_empty() || is_one, "`{test}` is not the name of one test");
        Ok(ran.status.success())
    }

    fn cargo(&self, arguments: &[&str]) -> Result<Output> {
        let mut command = cargo();
        command.current_dir(FOLDER).arg("test").args(&self.tests).args(arguments);
        command.output().context("cannot start cargo")
    }
}

/// Writes the copy, without any bug.
fn write() -> Result<()> {
    let folder = Path::new(FOLDER);
    // A test that has moved since the last copy would be there twice.
    let tests = folder.join("tests");
    if tests.exists() {
        fs::remove_dir_all(tests)?;
    }
    for part in [
        "src",
        "tests/interleavings",
        "tests/scheduler",
        ".ci/workspace-hack",
    ] {
        crate::folder::copy(Path::new(part), &folder.join(part))?;
    }
    // The versions that the project has: nothing is fetched.
    fs::copy("Cargo.lock", folder.join("Cargo.lock"))?;
    fs::write(folder.join("Cargo.toml"), manifest()?)?;
    Ok(())
}

/// The project's `Cargo.toml`, with what is in the copy.
fn manifest() -> Result<String> {
    let mut manifest: Table = fs::read_to_string("Cargo.toml")?.parse()?;
    manifest.remove("dev-dependencies");
    // In the copy, the tests belong to the library.
    let package = manifest.get_mut("package").and_then(Value::as_table_mut);
    package.context("Cargo.toml has no package")?.remove("autotests");
    let workspace = manifest.get_mut("workspace").and_then(Value::as_table_mut);
    let workspace = workspace.context("Cargo.toml has no workspace")?;
    workspace.remove("default-members");
    let members = ["tests/interleavings", ".ci/workspace-hack"].map(Value::from);
    workspace.insert("members".to_owned(), Value::Array(members.to_vec()));
    Ok(manifest.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `cargo xtask mutants` takes too long for every change. That its edits fit is seen at once.
    #[test]
    fn every_bug_can_be_planted() {
        let source = crate::root().join("src");
        for mutant in suites().unwrap().values().flat_map(|suite| &suite.mutants) {
            for edit in mutant.edits() {
                edit.applied(&source).unwrap_or_else(|error| panic!("{}: {error}", mutant.name));
            }
        }
    }
}
