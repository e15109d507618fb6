//! A peer's process, which answers each input line with an output line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::measured::{Measured, Workload};

/// A running peer. Dropping it ends the process, which frees its memory.
pub struct Process {
    child: Child,
    /// None once the input is closed.
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Process {
    /// Starts the program; its standard error is inherited.
    pub fn start(mut command: Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let questions = child.stdin.take();
        let answers = child.stdout.take().context("the program has no output")?;
        Ok(Self { child, questions, answers: BufReader::new(answers) })
    }

    pub fn generate(&mut self, workload: &Workload) -> Result<Measured> {
        let measured: Measured = self.ask(workload)?;
        ensure!(
            measured.ids.len() == workload.new_tokens,
            "it generated {} tokens in place of {}",
            measured.ids.len(),
            workload.new_tokens
        );
        Ok(measured)
    }

    /// Sends a line of JSON, and reads one.
    pub fn ask<A: DeserializeOwned>(&mut self, question: &impl Serialize) -> Result<A> {
        let questions = self.questions.as_mut().context("the program has no input")?;
        let mut answer = String::new();
        // If the program has ended, reading the answer fails too.
        if writeln!(questions, "{}", serde_json::to_string(question)?).is_ok() {
            self.answers.read_line(&mut answer)?;
        }
        ensure!(!answer.is_empty(), "it ended without an answer; what it said is above");
        serde_json::from_str(&answer)
            .with_context(|| format!("it answered `{}`", answer.trim_end()))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The program ends at the end of its input.
        self.questions = None;
        // A failed wait leaves nothing to clean up.
        let _ = self.child.wait();
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn answering(answer: &str) -> Result<Measured> {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("read question; {answer}")]);
        let workload = Workload { prompt: vec![1], new_tokens: 2 };
        Process::start(command)?.generate(&workload)
    }

    #[test]
    fn answers_are_read_and_what_is_none_is_an_error() {
        let good = r#"echo '{"prefill": 0.5, "decode": 1.5, "ids": [7, 8]}'"#;
        let measured = answering(good).unwrap();
        assert_eq!(measured.ids, [7, 8]);
        assert_eq!((measured.prefill, measured.decode), (0.5, 1.5));

        let error = |answer| answering(answer).unwrap_err().to_string();
        assert!(error("exit 1").starts_with("it ended without an answer"));
        assert_eq!(error("echo Loading"), "it answered `Loading`");
        let short = r#"echo '{"prefill": 0.5, "decode": 1.5, "ids": [7]}'"#;
        assert_eq!(error(short), "it generated 1 tokens in place of 2");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = Process::start(Command::new("no-such-program")).err().unwrap();
        assert_eq!(error.to_string(), "cannot start no-such-program");
    }
}
