//! The problems that checks report.

use std::fmt;

use anyhow::{Result, ensure};

/// A problem in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The path from the root of the project.
    file: String,
    /// The line number, from 1.
    line: usize,
    message: String,
}

impl Problem {
    pub fn new(file: impl Into<String>, line: usize, message: impl Into<String>) -> Self {
        Self { file: file.into(), line, message: message.into() }
    }

    /// As [`new`](Self::new), with a byte offset into `text`.
    pub fn at(file: &str, text: &str, offset: usize, message: impl Into<String>) -> Self {
        Self::new(file, line_of(text, offset), message)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

/// The line number, from 1, of a byte offset.
pub fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].iter().filter(|&&byte| byte == b'\n').count() + 1
}

/// Prints all problems, and fails if there are any.
pub fn report(mut problems: Vec<Problem>) -> Result<()> {
    problems.sort();
    problems.dedup();
    for problem in &problems {
        println!("{problem}");
    }
    ensure!(problems.is_empty(), "{} problems in the book", problems.len());
    println!("the book: no problems");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_names_its_line() {
        let problem = Problem::at("a.md", "one\ntwo\nthree", 5, "wrong");
        assert_eq!(problem.to_string(), "a.md:2: wrong");
    }

    #[test]
    fn a_problem_is_a_failure() {
        assert!(report(vec![Problem::new("a.md", 1, "wrong")]).is_err());
        assert!(report(Vec::new()).is_ok());
    }
}
