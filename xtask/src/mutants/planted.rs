//! A bug that is planted on purpose, and the tests that must find it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};

/// A bug: texts of files, and what takes their places.
pub struct Mutant {
    pub name: &'static str,
    /// The test that must fail.
    pub test: &'static str,
    pub edits: &'static [Edit],
}

pub struct Edit {
    /// Below `src`.
    pub file: &'static str,
    pub from: &'static str,
    pub to: &'static str,
}

/// Tests, with a crate that holds only what they need: each mutant is compiled.
pub struct Suite {
    pub name: &'static str,
    /// The file that the tests are in.
    pub target: &'static str,
    /// Writes the crate into a folder.
    pub write: fn(&Path) -> Result<()>,
    pub mutants: &'static [Mutant],
}

impl Suite {
    /// # Errors
    /// A bug that no test finds; a test that fails without any; a mutant that cannot be planted.
    pub fn find_all(&self) -> Result<()> {
        self.write()?;
        ensure!(self.passes("")?, "the tests of the {} fail without a mutant", self.name);
        for mutant in self.mutants {
            let Mutant { name, test, edits } = mutant;
            self.write()?;
            for edit in *edits {
                self.plant(edit).with_context(|| format!("mutant: {name}"))?;
            }
            ensure!(!self.passes(test)?, "`{test}` does not find this bug: {name}");
            println!("found: {name}");
        }
        Ok(())
    }

    fn folder(&self) -> PathBuf {
        Path::new("target/mutants").join(self.name)
    }

    fn write(&self) -> Result<()> {
        let folder = self.folder();
        fs::create_dir_all(&folder)?;
        // The versions that the project has: nothing is fetched.
        fs::copy("Cargo.lock", folder.join("Cargo.lock"))?;
        (self.write)(&folder)
    }

    fn plant(&self, edit: &Edit) -> Result<()> {
        let path = self.folder().join("src").join(edit.file);
        let text = fs::read_to_string(&path)?;
        let places = text.matches(edit.from).count();
        ensure!(places == 1, "`{}` is in src/{} {places} times, not once", edit.from, edit.file);
        fs::write(&path, text.replace(edit.from, edit.to))?;
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
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(self.folder()).args(["test", "--test", self.target]).args(arguments);
        // One for all crates, so that what they have in common is built once.
        command.env("CARGO_TARGET_DIR", "../target");
        command.output().context("cannot start cargo")
    }
}
