//! The program as a person runs it, with all of its features: `cargo test -p slowburn-cli --features full`.

mod chat;
mod conversation;
mod help;
mod merge;
mod models;
#[cfg(unix)]
mod terminal;
mod typed;

#[path = "../../../tests/common/foreign_words.rs"]
mod foreign_words;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// What a run left behind.
struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// The program, without what this user has set.
fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_slowburn"));
    command.args(args).env_remove("BURN_DEVICE").env("NO_COLOR", "1");
    command
}

/// Runs the program with a pipe as standard input.
fn pipe(args: &[&str], input: &str) -> Outcome {
    let mut command = program(args);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[track_caller]
fn succeed(args: &[&str], input: &str) -> Outcome {
    let outcome = pipe(args, input);
    assert_eq!(outcome.code, Some(0), "{args:?}: {}", outcome.stderr);
    outcome
}

/// The bundled model in a folder, with a chat template.
fn ember(template: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let of = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/ember");
    for file in ["config.json", "model.safetensors", "tokenizer.json"] {
        fs::copy(of.join(file), folder.path().join(file)).unwrap();
    }
    fs::write(folder.path().join("chat_template.jinja"), template).unwrap();
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn in_folder(folder: &TempDir, name: &str) -> PathBuf {
    folder.path().join(name)
}
