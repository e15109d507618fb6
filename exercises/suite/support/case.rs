//! One rule, tried on one input.

use std::cell::Cell;
use std::fmt::{Debug, Write};

/// A rule that must hold, and what it is tried on. Make it before calling the code under test:
/// when that panics, the rule and the input are printed too.
pub struct Case {
    rule: String,
    given: String,
    failed: Cell<bool>,
}

impl Case {
    pub fn rule(rule: impl Into<String>) -> Self {
        Self {
            rule: rule.into(),
            given: String::new(),
            failed: Cell::new(false),
        }
    }

    /// Adds an argument of the call to what a failure shows.
    pub fn given(mut self, name: &str, value: impl Debug) -> Self {
        writeln!(self.given, "  {name} = {value:?}").expect("a String takes all");
        self
    }

    #[track_caller]
    pub fn equal<T: PartialEq + Debug>(&self, expected: T, found: T) {
        if found != expected {
            self.fail(&format!("{expected:?}"), &format!("{found:?}"));
        }
    }

    /// No number may be further from what is expected than `tolerance`. Infinities must be the
    /// same, and NaN is never right.
    #[track_caller]
    pub fn close(&self, expected: &[f32], found: &[f32], tolerance: f32) {
        if found.len() != expected.len() {
            let length = |numbers: &[f32]| format!("{} numbers: {numbers:?}", numbers.len());
            self.fail(&length(expected), &length(found));
        }
        let near = |a: f32, b: f32| a == b || (a - b).abs() <= tolerance;
        let differs = expected.iter().zip(found).position(|(&a, &b)| !near(a, b));
        let Some(i) = differs else {
            return;
        };
        self.fail(
            &format!("{expected:?}"),
            &format!(
                "{found:?}\n  the first difference is at index {i}: {} instead of {} (tolerance {tolerance})",
                found[i], expected[i]
            ),
        );
    }

    /// For a rule that has no single right answer: `expected` says in words what must hold of
    /// what was `found`.
    #[track_caller]
    pub fn holds(&self, condition: bool, expected: &str, found: impl Debug) {
        if !condition {
            self.fail(expected, &format!("{found:?}"));
        }
    }

    #[track_caller]
    pub(super) fn fail(&self, expected: &str, found: &str) -> ! {
        self.failed.set(true);
        let Self { rule, given, .. } = self;
        panic!("\nrule: {rule}\ngiven:\n{given}expected:\n  {expected}\nfound:\n  {found}\n");
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        if std::thread::panicking() && !self.failed.get() {
            eprintln!("\nyour code panicked. rule: {}\ngiven:\n{}", self.rule, self.given);
        }
    }
}
