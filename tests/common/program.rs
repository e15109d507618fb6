//! Running the examples as a person does.
//!
//! They are a package of their own. `cargo test` in the root builds them before it runs the tests.
//! With `--test NAME` or `-p` it does not: build them with `cargo build --examples` first.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// A built example, beside this test: `target/PROFILE/deps/..` and `target/PROFILE/examples/..`.
pub fn example(name: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let path = profile.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(path.exists(), "{} is not built: cargo build --examples", path.display());
    let mut command = Command::new(path);
    command.stdin(Stdio::null()).env_remove("BURN_DEVICE");
    command
}

/// What a run left behind.
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

pub fn run(name: &str, args: &[&str]) -> Outcome {
    let output = example(name).args(args).output().unwrap();
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs an example that is to succeed.
#[track_caller]
pub fn succeed(name: &str, args: &[&str]) -> String {
    let Outcome { code, stdout, stderr } = run(name, args);
    assert_eq!(code, Some(0), "{args:?}: {stderr}");
    stdout
}

/// Runs an example that is to print one JSON object, alone, and nothing on standard error.
#[track_caller]
pub fn succeed_in_json(name: &str, args: &[&str]) -> Value {
    let Outcome { code, stdout, stderr } = run(name, &[args, &["--json"]].concat());
    assert_eq!(code, Some(0), "{args:?}: {stderr}");
    assert_eq!(stderr, "", "{args:?}");
    assert_eq!(stdout.lines().count(), 1, "{args:?}: {stdout}");
    let value: Value = serde_json::from_str(&stdout).unwrap();
    assert!(value.is_object(), "{args:?}: {stdout}");
    value
}

/// Runs an example that is to fail with one line that holds `message`.
#[track_caller]
pub fn fail(name: &str, args: &[&str], code: i32, message: &str) {
    let outcome = run(name, args);
    let Outcome { stdout, stderr, .. } = &outcome;
    assert_eq!(outcome.code, Some(code), "{args:?}: {stderr}");
    assert_eq!(stdout, "", "{args:?}");
    assert!(stderr.starts_with("error: "), "{args:?}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{args:?}: {stderr}");
    assert!(stderr.ends_with('\n'), "{args:?}: {stderr}");
    assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
    assert!(stderr.contains(message), "{args:?}: `{message}` is not in: {stderr}");
}

/// Runs an example with flags that clap itself refuses: several lines, but no panic.
#[track_caller]
pub fn fail_in_clap(name: &str, args: &[&str], message: &str) {
    let Outcome { code, stdout, stderr } = run(name, args);
    assert_eq!(code, Some(2), "{args:?}: {stderr}");
    assert_eq!(stdout, "", "{args:?}");
    assert!(stderr.starts_with("error: "), "{args:?}: {stderr}");
    assert!(stderr.contains(message), "{args:?}: `{message}` is not in: {stderr}");
}
