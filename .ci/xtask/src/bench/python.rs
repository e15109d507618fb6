//! The peers in Python: `benches/peers/*.py`.

use std::path::Path;
use std::process::Command;

use super::candle::PACKAGE;
use super::dtype::Dtype;

/// The name and version of the peer in `script`, or why this Python cannot run it.
pub fn name(python: &str, script: &str) -> Result<String, String> {
    let output = command(python, script).arg("--version").output();
    let output = output.map_err(|error| format!("{python}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(reason(&String::from_utf8_lossy(&output.stderr)))
    }
}

/// The command that runs the peer in `script` on the model in `folder`. Large files go to
/// `scratch`.
pub fn program(
    (python, script): (&str, &str),
    folder: &Path,
    dtype: Dtype,
    threads: usize,
    scratch: &Path,
) -> Command {
    let mut command = command(python, script);
    command.arg(folder).arg(dtype.name()).arg(threads.to_string()).arg(scratch);
    command
}

/// The command that runs `script`.
pub fn command(python: &str, script: &str) -> Command {
    let mut command = Command::new(python);
    // Writes no bytecode files beside the script, and no warnings into the report.
    command.args(["-B", "-W", "ignore"]).arg(Path::new(PACKAGE).join(script));
    command
}

/// The last line of Python's standard error: the error itself, below the traceback.
fn reason(stderr: &str) -> String {
    let mut lines = stderr.lines().rev().map(str::trim);
    let last = lines.find(|line| !line.is_empty());
    last.unwrap_or("it ended with an error and said nothing").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_the_last_line() {
        let stderr = "Traceback:\n  import torch\nModuleNotFoundError: No module named 'torch'\n\n";
        assert_eq!(reason(stderr), "ModuleNotFoundError: No module named 'torch'");
        assert!(reason("").contains("said nothing"));
    }

    #[test]
    fn a_python_that_is_not_there_is_a_reason() {
        assert!(name("no-such-python", "x.py").unwrap_err().starts_with("no-such-python: "));
    }
}
