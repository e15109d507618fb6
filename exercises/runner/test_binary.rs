//! The tests of one package, built once and run in parts.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
#[cfg(unix)]
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::Deserialize;
use wait_timeout::ChildExt;

use crate::cargo::cargo;
use crate::compile_error::CompileError;
use crate::failure::{self, Failure};

/// How long the tests of one exercise may take. They take less than a second; a wrong answer may
/// never end.
pub const LIMIT: Duration = Duration::from_secs(10);

/// How much memory the tests of one exercise may ask for. They need less than 100 MB; a wrong answer
/// may push forever, and would take all memory of the machine before [`LIMIT`] is reached.
pub const MEMORY: u64 = 2 << 30;

pub struct TestBinary {
    path: PathBuf,
    folder: PathBuf,
}

/// What came of building the tests of a package.
pub enum Build {
    Ready(TestBinary),
    /// Code that does not compile.
    Broken(Vec<CompileError>),
}

/// What the compiler and cargo print while they build.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Nothing, where all goes well.
    Hidden,
    /// What cargo says to a terminal: for a build of minutes.
    Shown,
}

/// What became of the tests of one run.
#[derive(Debug)]
pub struct Outcome {
    pub passed: Vec<String>,
    pub failed: Vec<Failure>,
    pub ending: Ending,
    /// What it printed.
    pub output: String,
}

/// How a run of tests ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ending {
    /// All tests have a result.
    Regular,
    /// It took longer than [`LIMIT`], and was killed.
    TimedOut,
    /// It asked for more than [`MEMORY`], and was refused.
    OutOfMemory,
    /// The process ended before its tests did, as on a stack overflow: what it said on stderr.
    Crashed(String),
}

impl Outcome {
    pub fn all_pass(&self) -> bool {
        !self.passed.is_empty() && self.failed.is_empty() && self.ending == Ending::Regular
    }
}

/// A line of `cargo test --message-format json`, as far as it counts here.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
    profile: Option<BuiltFor>,
    target: Option<Target>,
    message: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct BuiltFor {
    test: bool,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

impl TestBinary {
    /// Builds the tests of the target that is named as its package, in the project at `root`.
    /// `only` builds the variants of these exercises alone, or all where it is empty; `colour` is for
    /// the compiler's messages.
    pub fn build(
        root: &Path,
        package: &str,
        only: &[&str],
        progress: Progress,
        colour: bool,
    ) -> Result<Build> {
        let mut command = cargo();
        command.args(["test", "--no-run", "-p", package, "--test", package]);
        if only.is_empty() {
            command.env_remove("ONLY_EXERCISES");
        } else {
            command.env("ONLY_EXERCISES", only.join(","));
        }
        Ok(match compile(root, command, package, true, progress, colour)? {
            Ok(path) => Build::Ready(Self { path, folder: root.to_owned() }),
            Err(errors) => Build::Broken(errors),
        })
    }

    /// Runs the tests whose names contain `filter`, and kills them after [`LIMIT`].
    pub fn run(&self, filter: &str) -> Result<Outcome> {
        self.run_within(filter, LIMIT)
    }

    fn run_within(&self, filter: &str, limit: Duration) -> Result<Outcome> {
        let mut command = Command::new(&self.path);
        command
            .arg(filter)
            .current_dir(&self.folder)
            // What a learner needs to know is in the message.
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = spawn_with_little_memory(&mut command)
            .with_context(|| format!("cannot start {:?}", self.path))?;
        let stdout = read(child.stdout.take().context("stdout is piped")?);
        let stderr = read(child.stderr.take().context("stderr is piped")?);
        let status = child.wait_timeout(limit)?;
        if status.is_none() {
            child.kill()?;
            child.wait()?;
        }
        let (output, stderr) = (text(stdout)?, text(stderr)?);
        let (passed, failed) = failure::results(&output);
        // What libtest ends with where tests fail. After a crash there are no messages of those that had
        // failed, and the crash is what has to be said.
        let some_failed = !failed.is_empty() && status.and_then(|s| s.code()) == Some(101);
        let ending = match status {
            None => Ending::TimedOut,
            // What Rust's allocator says before it aborts.
            Some(_) if stderr.contains("memory allocation of ") => Ending::OutOfMemory,
            Some(status) if status.success() || some_failed => Ending::Regular,
            Some(status) => Ending::Crashed(format!("{stderr}{status}")),
        };
        if passed.is_empty() && failed.is_empty() && ending == Ending::Regular {
            bail!("no test is named `{filter}...`");
        }
        Ok(Outcome { passed, failed, ending, output })
    }
}

/// Held while this process has the limits of a child: two threads that lower and raise them at once
/// would leave them low.
#[cfg(unix)]
static LIMITS: Mutex<()> = Mutex::new(());

/// Starts a process that may ask for [`MEMORY`]. A child has the limits of its parent, so they are
/// lowered for the moment in which it starts. Where that is not possible, it has none.
fn spawn_with_little_memory(command: &mut Command) -> std::io::Result<Child> {
    #[cfg(unix)]
    {
        use rlimit::Resource;
        let _alone = LIMITS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok((soft, hard)) = Resource::DATA.get()
            && Resource::DATA.set(soft.min(MEMORY), hard).is_ok()
        {
            let child = command.spawn();
            // It was as high before, and may be so again.
            Resource::DATA.set(soft, hard)?;
            return child;
        }
    }
    command.spawn()
}

/// Runs a command of cargo that compiles a package. Returns the file of its tests, or of its program,
/// or what does not compile.
pub fn compile(
    root: &Path,
    mut command: Command,
    package: &str,
    tests: bool,
    progress: Progress,
    colour: bool,
) -> Result<Result<PathBuf, Vec<CompileError>>> {
    let format = if colour {
        "json-diagnostic-rendered-ansi"
    } else {
        "json"
    };
    command
        .current_dir(root)
        .args(["--message-format", format])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    if progress == Progress::Hidden {
        command.arg("--quiet").stderr(Stdio::piped());
    }
    if !tests {
        // The engine runs here alone, so `mul_add` can be the processor's instruction. A program for any
        // x86-64 calls a function for it, which takes 25 times as long. The crates below stay as they are.
        command.args(["--", "-C", "target-cpu=native"]);
    }
    let program = command.get_program().to_owned();
    let mut child = command.spawn().with_context(|| format!("cannot start {program:?}"))?;
    let stderr = child.stderr.take().map(read);
    let stdout = text(read(child.stdout.take().context("stdout is piped")?))?;
    let success = child.wait()?.success();
    let stderr = stderr.map(text).transpose()?.unwrap_or_default();

    let mut path = None;
    let mut errors = Vec::new();
    for line in stdout.lines() {
        let Ok(message) = serde_json::from_str::<Message>(line) else {
            continue;
        };
        let fits = message.profile.is_some_and(|profile| profile.test == tests);
        let named = message.target.is_some_and(|target| target.name == package);
        path = message.executable.filter(|_| fits && named).or(path);
        errors.extend(message.message.as_ref().and_then(CompileError::read));
    }
    if !success {
        ensure!(!errors.is_empty(), "cargo cannot build `{package}`\n{stderr}");
        return Ok(Err(errors));
    }
    let path = path.with_context(|| format!("cargo names no program of `{package}`"))?;
    Ok(Ok(path))
}

fn read(mut from: impl Read + Send + 'static) -> JoinHandle<std::io::Result<Vec<u8>>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).map(|_| bytes)
    })
}

fn text(reader: JoinHandle<std::io::Result<Vec<u8>>>) -> Result<String> {
    let bytes = reader.join().map_err(|_| anyhow!("the reader panicked"))??;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use std::env;

    use super::*;

    fn run(program: &str, argument: &str, limit: Duration) -> Result<Outcome> {
        let binary = TestBinary { path: program.into(), folder: env::temp_dir() };
        binary.run_within(argument, limit)
    }

    /// Longer than a busy machine takes to start a process.
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn an_answer_that_never_ends_is_killed_and_does_not_pass() {
        let outcome = run("sleep", "600", Duration::from_millis(200)).unwrap();
        assert_eq!(outcome.ending, Ending::TimedOut);
        assert!(!outcome.all_pass());
    }

    #[test]
    fn a_process_that_fails_without_a_failed_test_crashed() {
        let outcome = run("false", "", LONG).unwrap();
        assert!(matches!(outcome.ending, Ending::Crashed(_)), "{outcome:?}");
        assert!(!outcome.all_pass());
    }

    /// A script in place of a test program.
    fn script(text: &str) -> (tempfile::TempDir, String) {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tests");
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = path.to_str().unwrap().to_owned();
        (folder, path)
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn an_answer_has_little_memory_and_the_runner_has_its_own() {
        let limits = || {
            let _alone = LIMITS.lock().unwrap_or_else(PoisonError::into_inner);
            rlimit::Resource::DATA.get().unwrap()
        };
        let before = limits();
        let (_folder, tests) = script("echo \"test a::b_tests::limit_$(ulimit -d) ... ok\"");
        let outcome = run(&tests, "a::b_tests::", LONG).unwrap();
        let kilobytes = before.0.min(MEMORY) / 1024;
        assert_eq!(outcome.passed, [format!("a::b_tests::limit_{kilobytes}")]);
        assert_eq!(limits(), before);
    }

    #[test]
    fn an_answer_that_takes_all_memory_is_told_from_a_crash() {
        let said = "echo 'memory allocation of 4294967296 bytes failed' >&2; kill -ABRT $$";
        let (_folder, tests) = script(said);
        let outcome = run(&tests, "a::b_tests::", LONG).unwrap();
        assert_eq!(outcome.ending, Ending::OutOfMemory);
        assert!(!outcome.all_pass());
    }

    #[test]
    fn a_filter_that_fits_no_test_is_an_error() {
        let error = run("true", "model::nothing_tests::", LONG).unwrap_err();
        assert!(error.to_string().contains("no test is named `model::nothing_tests::...`"));
    }
}
