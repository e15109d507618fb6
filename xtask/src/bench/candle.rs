//! The program in `benches/peers`, which generates with candle: built, started and asked.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::measured::{Measured, Workload};

const PACKAGE: &str = "benches/peers";

/// The program, while it runs. It ends when nobody can ask it any more.
pub struct Candle {
    /// What to call it in a table.
    pub name: String,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    _process: Child,
}

impl Candle {
    /// Builds the program with the profile `release`, starts it and lets it load `model`.
    pub fn start(model: &Path, threads: usize) -> Result<Self> {
        let lock = fs::read_to_string(Path::new(PACKAGE).join("Cargo.lock"))
            .with_context(|| format!("no {PACKAGE} here: run this in the root of the project"))?;
        let version =
            locked_version(&lock, "candle-transformers").context("no candle is locked")?;
        let mut process = Command::new(build()?)
            .arg(model)
            .env("RAYON_NUM_THREADS", threads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the peer")?;
        let questions = process.stdin.take().context("the peer has no input")?;
        let answers = process.stdout.take().context("the peer has no output")?;
        Ok(Self {
            name: format!("candle {version}"),
            questions,
            answers: BufReader::new(answers),
            _process: process,
        })
    }

    pub fn generate(&mut self, workload: &Workload) -> Result<Measured> {
        writeln!(self.questions, "{}", serde_json::to_string(workload)?)?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        ensure!(!answer.is_empty(), "the peer ended without an answer; what it said is above");
        Ok(serde_json::from_str(&answer)?)
    }
}

/// Builds in a folder of its own, and returns the path of the program.
fn build() -> Result<PathBuf> {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let target = target.join("peers");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--release", "--locked", "--manifest-path"])
        .arg(Path::new(PACKAGE).join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "the peer could not be built");
    let program = format!("candle-peer{}", env::consts::EXE_SUFFIX);
    Ok(target.join("release").join(program))
}

/// The version of a package in a `Cargo.lock`.
fn locked_version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    lines.nth(1)?.strip_prefix("version = \"")?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_locked_version() {
        let lock = "[[package]]\nname = \"candle\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"candle-nn\"\nversion = \"0.11.1\"\n";
        assert_eq!(locked_version(lock, "candle-nn"), Some("0.11.1"));
        assert_eq!(locked_version(lock, "candle"), Some("0.1.0"));
        assert_eq!(locked_version(lock, "nn"), None);
    }
}
