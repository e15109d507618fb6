//! A server of the book, and the commands that ask it.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use exercises_runner::cargo::cargo;

use crate::server::Server as Process;

/// The address at which the pages say that the server is.
const ADDRESS: &str = "http://127.0.0.1:8080";

/// A server that runs until it is dropped.
pub struct Server(Process);

impl Server {
    /// Starts the `cargo run` of a page, at a port that is free.
    pub fn start(command: &str, root: &Path) -> Result<Self> {
        let words = shlex::split(command).context("quotes that do not match")?;
        let [first, run, rest @ ..] = words.as_slice() else {
            bail!("`{command}` is too short");
        };
        ensure!(first == "cargo" && run == "run", "`{command}` is not a `cargo run`");
        let mut process = cargo();
        process.args(["run", "--quiet"]).args(crate::one_build::arguments(rest)).current_dir(root);
        // The engine of the exercises says where it is when it is ready.
        if rest.last().is_some_and(|word| word == "--serve") {
            process.arg("127.0.0.1:0");
            return Ok(Self(Process::announced(process)?));
        }
        process.args((!rest.iter().any(|word| word == "--")).then_some("--"));
        process.args(["--port", "0", "--log", "error"]);
        let server = Self(Process::announced(process)?);
        // Loading is 503 with `Retry-After: 1`.
        server.ask(&format!("curl -sf --retry 60 -o /dev/null {ADDRESS}/ready"))?;
        Ok(server)
    }

    /// Runs commands of a page in a shell, in which `$server` is the process id of the server, and
    /// returns standard output and standard error.
    pub fn ask(&self, commands: &str) -> Result<(String, String)> {
        let commands = commands.replace(ADDRESS, &self.0.url);
        let mut shell = Command::new("bash");
        shell.args(["-c", &commands]).env("server", self.0.id().to_string());
        let output = shell.output()?;
        let (out, err) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
        ensure!(output.status.success(), "`{commands}`: {}: {out}{err}", output.status);
        Ok((out, err))
    }
}
