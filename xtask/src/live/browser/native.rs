//! The library on this machine, in the arithmetic of wasm32.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use exercises_runner::one_build;
use serde_json::Value;

/// The example that answers, and the compiler of the crates of this workspace.
const EXAMPLE: &str = "answers";
const UNFUSED: &str = ".ci/unfused";

pub struct Native {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Native {
    /// Builds the engine for this machine, and starts it with the weights of the pages.
    pub fn start(root: &Path) -> Result<Self> {
        let output = Command::new("cargo")
            .arg("build")
            .args(one_build::release())
            .args(["--package", "slowburn-live", "--example", EXAMPLE])
            .args(["--message-format", "json-render-diagnostics"])
            .env("RUSTC_WORKSPACE_WRAPPER", root.join(UNFUSED))
            .current_dir(root)
            .stderr(Stdio::inherit())
            .output()?;
        ensure!(output.status.success(), "the engine does not build");
        let messages = String::from_utf8(output.stdout)?;
        let made = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut programs = made.filter_map(|made| made["executable"].as_str().map(str::to_owned));
        let program = programs.next_back();
        let mut process = Command::new(program.context("cargo names no program")?)
            .arg(root.join(super::super::FOLDER).join(super::super::WEIGHTS))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let to = process.stdin.take().context("the engine has no input")?;
        let from = BufReader::new(process.stdout.take().context("the engine has no output")?);
        Ok(Self { process, to, from })
    }

    /// Opens a widget.
    pub fn open(&mut self, kind: &str) -> Result<u64> {
        self.say(&format!("open {kind}"))?.as_u64().context("a widget has a number")
    }

    /// Asks a widget.
    pub fn ask(&mut self, widget: u64, request: &Value) -> Result<Value> {
        self.say(&format!("ask {widget} {request}"))
    }

    fn say(&mut self, line: &str) -> Result<Value> {
        writeln!(self.to, "{line}")?;
        let mut answer = String::new();
        self.from.read_line(&mut answer)?;
        match answer.trim_end().split_once(' ') {
            Some(("ok", answer)) => Ok(serde_json::from_str(answer)?),
            Some(("error", message)) => bail!("{line}: {message}"),
            _ => bail!("{line}: {answer}"),
        }
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        // One that has ended already needs none of it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
