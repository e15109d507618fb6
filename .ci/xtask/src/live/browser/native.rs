//! The library on this machine, in the arithmetic of wasm32.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use exercises_runner::cargo::cargo;
use serde_json::{Value, json};

use crate::bench::Process;

/// The example that answers, and the compiler of the crates of this workspace.
const EXAMPLE: &str = "answers";
const UNFUSED: &str = ".ci/unfused";

pub struct Native(Process);

impl Native {
    /// Builds the engine for this machine, and starts it with the weights of the pages.
    pub fn start(root: &Path) -> Result<Self> {
        let output = cargo()
            .arg("build")
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
        let mut engine = Command::new(program.context("cargo names no program")?);
        engine.arg(root.join(super::super::FOLDER).join(super::super::WEIGHTS));
        Ok(Self(Process::start(engine)?))
    }

    /// Opens a widget.
    pub fn open(&mut self, kind: &str) -> Result<u64> {
        self.say(&json!({ "open": kind }))?.as_u64().context("a widget has a number")
    }

    /// Asks a widget.
    pub fn ask(&mut self, widget: u64, request: &Value) -> Result<Value> {
        self.say(&json!({ "ask": [widget, request.to_string()] }))
    }

    fn say(&mut self, question: &Value) -> Result<Value> {
        match self.0.ask::<Result<String, String>>(question)? {
            Ok(answer) => Ok(serde_json::from_str(&answer)?),
            Err(message) => bail!("{question}: {message}"),
        }
    }
}
