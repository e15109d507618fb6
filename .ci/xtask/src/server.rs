//! A server that is started here, and ended when it is dropped.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use exercises_runner::cargo::cargo;
use serde_json::Value;

const EXAMPLE: &str = "16_server";

/// A running server.
pub struct Server {
    child: Child,
    /// Such as `http://127.0.0.1:41234`.
    pub url: String,
}

impl Server {
    /// Starts this project's server, or `program` in its place, on a free port unless the flags
    /// name one.
    pub fn start_ours(program: &Path, flags: &[&str]) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(["--port", "0", "--log", "error"]).args(flags);
        Self::announced(command)
    }

    /// Starts a server whose first line of output ends with its address, as that of this project.
    pub fn announced(mut command: Command) -> Result<Self> {
        command.stdout(Stdio::piped());
        let name = command.get_program().display().to_string();
        let mut child = spawn(command)?;
        let mut line = String::new();
        let output = child.stdout.take().context("the server has no output")?;
        BufReader::new(output).read_line(&mut line)?;
        let url = line.split_whitespace().last().unwrap_or_default().to_owned();
        let server = Self { child, url };
        ensure!(server.url.starts_with("http://"), "{name} did not start; what it said is above");
        Ok(server)
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn port(&self) -> &str {
        self.url.rsplit(':').next().unwrap_or_default()
    }

    /// Starts a server by a command line, with a free port in the place of `{port}`.
    pub fn start(command: &str) -> Result<Self> {
        ensure!(command.contains("{port}"), "the command needs {{port}} where its port belongs");
        // The port is free again before the server takes it: nobody else takes it so soon.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let words = shlex::split(&command.replace("{port}", &port.to_string()));
        let words = words.context("the command has an open quote")?;
        let (program, arguments) = words.split_first().context("the command is empty")?;
        let mut command = Command::new(program);
        // Its log is no part of the table.
        command.args(arguments).stdout(Stdio::null());
        Self::at(command, format!("http://127.0.0.1:{port}"))
    }

    /// Starts a server that will be at `url`.
    pub fn at(command: Command, url: String) -> Result<Self> {
        Ok(Self { child: spawn(command)?, url })
    }

    /// Fails if the server has ended by itself.
    pub fn check(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => anyhow::bail!("the server at {} has ended: {status}", self.url),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended by itself needs neither.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(mut command: Command) -> Result<Child> {
    let child = command.stdin(Stdio::null()).spawn();
    child.with_context(|| format!("cannot start {}", command.get_program().display()))
}

/// `program`, or else the example, which is built.
pub fn program(program: Option<&Path>) -> Result<PathBuf> {
    program.map_or_else(build, |program| Ok(program.to_owned()))
}

/// Builds the example, and returns its path.
fn build() -> Result<PathBuf> {
    let mut command = cargo();
    // With both, the library has the features that it has in `cargo run --example`.
    command.args([
        "build",
        "--quiet",
        "-p",
        "slowburn",
        "-p",
        "slowburn-examples",
    ]);
    command.args(crate::one_build::arguments(
        &["--features", "serve", "--example", EXAMPLE].map(String::from),
    ));
    built(&mut command, EXAMPLE)
}

/// Runs `cargo build` for an example, and returns the path of its program.
pub fn built(command: &mut Command, example: &str) -> Result<PathBuf> {
    command.args(["--message-format", "json-render-diagnostics"]).stderr(Stdio::inherit());
    let output = command.output().context("cannot run cargo")?;
    ensure!(output.status.success(), "{example} could not be built");
    let lines = String::from_utf8(output.stdout)?;
    executable(&lines, example).with_context(|| format!("cargo has built no {example}"))
}

/// The path of the example, in what cargo says.
fn executable(lines: &str, example: &str) -> Option<PathBuf> {
    let messages = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut of_example = messages.filter(|message| message["target"]["name"] == example);
    of_example.find_map(|message| Some(PathBuf::from(message["executable"].as_str()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_that_of_the_example() {
        let lines = "{\"reason\":\"x\",\"target\":{\"name\":\"slowburn\"},\"executable\":\"a\"}\n\
                     {\"target\":{\"name\":\"16_server\"},\"executable\":\"b\"}\n{\"success\":true}\n";
        assert_eq!(executable(lines, EXAMPLE), Some(PathBuf::from("b")));
        assert_eq!(executable("{}", EXAMPLE), None);
    }

    #[test]
    fn a_command_that_cannot_be_one_is_refused() {
        let error = |command| Server::start(command).err().unwrap().to_string();
        assert!(error("server").contains("{port}"));
        assert_eq!(error("no-such-program {port}"), "cannot start no-such-program");
    }

    #[cfg(unix)]
    #[test]
    fn a_server_that_has_ended_is_noticed() {
        let mut server = Server::start("sh -c 'exit 3' {port}").unwrap();
        server.child.wait().unwrap();
        assert!(server.check().unwrap_err().to_string().contains("exit status: 3"));
    }
}
