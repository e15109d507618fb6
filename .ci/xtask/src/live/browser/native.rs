//! The library on this machine, in the arithmetic of wasm32.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use exercises_runner::cargo::cargo;
use serde_json::{Value, json};

use crate::bench::Process;
use crate::server::built;

/// The example that answers, and the compiler of the crates of this workspace.
const EXAMPLE: &str = "answers";
const UNFUSED: &str = ".ci/unfused";

pub struct Native(Process);

impl Native {
    /// Builds the engine for this machine, and starts it with the weights of the pages.
    pub fn start(root: &Path) -> Result<Self> {
        let mut command = cargo();
        command
            .args(["build", "--package", "slowburn-live", "--example", EXAMPLE])
            .env("RUSTC_WORKSPACE_WRAPPER", root.join(UNFUSED))
            .current_dir(root);
        let mut engine = Command::new(built(&mut command, EXAMPLE)?);
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
