//! The tests of one package, built once and run in parts.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use wait_timeout::ChildExt;

pub struct TestBinary {
    path: PathBuf,
    folder: PathBuf,
}

/// What became of the tests of one run.
pub struct Outcome {
    pub passed: Vec<String>,
    pub failed: Vec<String>,
    /// The run took longer than it may, and was killed.
    pub timed_out: bool,
    /// What it printed.
    pub output: String,
}

impl Outcome {
    pub fn all_pass(&self) -> bool {
        !self.passed.is_empty() && self.failed.is_empty() && !self.timed_out
    }
}

/// A line of `cargo test --message-format json`, as far as it counts here.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
    target: Option<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

impl TestBinary {
    /// Builds the tests of the target that is named as its package. `only` builds the variants of
    /// one exercise alone.
    pub fn build(root: &Path, package: &str, only: Option<&str>) -> Result<Self> {
        let target: &[&str] = match package {
            "solutions" => &["--lib"],
            _ => &["--test", package],
        };
        let mut command = Command::new("cargo");
        command
            .current_dir(root)
            .args([
                "test",
                "--no-run",
                "--quiet",
                "--message-format",
                "json",
                "-p",
                package,
            ])
            .args(target)
            .stdout(Stdio::piped());
        match only {
            Some(name) => command.env("ONLY_EXERCISE", name),
            None => command.env_remove("ONLY_EXERCISE"),
        };
        let mut cargo = command.spawn().context("cannot start cargo")?;
        let lines = BufReader::new(cargo.stdout.take().context("stdout is piped")?);
        let mut path = None;
        let mut messages = String::new();
        for line in lines.lines() {
            let line = line?;
            let Ok(message) = serde_json::from_str::<Message>(&line) else {
                continue;
            };
            let named = message.target.is_some_and(|target| target.name == package);
            path = message.executable.filter(|_| named).or(path);
            messages += &rendered(&line);
        }
        if !cargo.wait()?.success() {
            bail!("the tests of `{package}` do not build:\n{messages}");
        }
        let path = path.with_context(|| format!("cargo names no tests of `{package}`"))?;
        Ok(Self { path, folder: root.to_owned() })
    }

    /// Runs the tests whose names contain `filter`, and kills them after `limit`.
    pub fn run(&self, filter: &str, limit: Duration) -> Result<Outcome> {
        let mut child = Command::new(&self.path)
            .arg(filter)
            .current_dir(&self.folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {:?}", self.path))?;
        let mut stdout = child.stdout.take().context("stdout is piped")?;
        let reader = thread::spawn(move || {
            let mut bytes = Vec::new();
            stdout.read_to_end(&mut bytes).map(|_| bytes)
        });
        let timed_out = child.wait_timeout(limit)?.is_none();
        if timed_out {
            child.kill()?;
            child.wait()?;
        }
        let bytes = reader.join().map_err(|_| anyhow::anyhow!("the reader panicked"))??;
        let output = String::from_utf8_lossy(&bytes).into_owned();
        let (passed, failed) = results(&output);
        ensure!(
            timed_out || !passed.is_empty() || !failed.is_empty(),
            "no test is named `{filter}...`"
        );
        Ok(Outcome { passed, failed, timed_out, output })
    }
}

/// What the compiler says, if that is what a line holds.
fn rendered(line: &str) -> String {
    let message: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
    message["message"]["rendered"].as_str().unwrap_or_default().to_owned()
}

/// The names of the tests that passed and of those that failed.
fn results(output: &str) -> (Vec<String>, Vec<String>) {
    let mut results = (Vec::new(), Vec::new());
    for line in output.lines() {
        let Some((name, result)) =
            line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... "))
        else {
            continue;
        };
        let name = name.trim_end_matches(" - should panic").to_owned();
        match result {
            "ok" => results.0.push(name),
            "FAILED" => results.1.push(name),
            _ => {}
        }
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_from_what_a_run_prints() {
        let output = "\nrunning 3 tests\ntest a::b ... ok\ntest a::c ... FAILED\ntest d - should panic ... ok\n\nfailures:\n\n---- a::c stdout ----\n";
        let (passed, failed) = results(output);
        assert_eq!(passed, ["a::b", "d"]);
        assert_eq!(failed, ["a::c"]);
    }
}
