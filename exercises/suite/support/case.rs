//! One rule, tried on one input.

use std::cell::{Cell, RefCell};
use std::fmt::{Debug, Display, Write};

use super::short::{argument, around_difference, list_around, shortened};

thread_local! {
    /// Whether the running test has said what failed. A test may have several cases at a time,
    /// and only the one that failed has something to say.
    static TOLD: Cell<bool> = const { Cell::new(false) };
}

/// A rule that must hold, and what it is tried on. Make it before calling the code under test:
/// when that panics, the rule and the input are printed too.
pub struct Case {
    rule: String,
    given: String,
    step: RefCell<String>,
}

impl Case {
    pub fn rule(rule: impl Into<String>) -> Self {
        TOLD.set(false);
        Self {
            rule: rule.into(),
            given: String::new(),
            step: RefCell::default(),
        }
    }

    /// Adds an argument of the call to what a failure shows.
    pub fn given(mut self, name: &str, value: impl Debug) -> Self {
        let argument = argument(name, &format!("{value:?}"));
        writeln!(self.given, "  {argument}").expect("a String takes all");
        self
    }

    /// The call that comes now, of several: what a failure or a panic shows from here on.
    pub fn step(&self, step: impl Display) {
        self.step.replace(step.to_string());
    }

    #[track_caller]
    pub fn equal<T: PartialEq + Debug>(&self, expected: T, found: T) {
        if found != expected {
            let (expected, found) =
                around_difference(&format!("{expected:?}"), &format!("{found:?}"));
            self.fail(&expected, &found);
        }
    }

    /// A number may be no further from what is expected than `tolerance`. `what` says what it is.
    #[track_caller]
    pub fn number(&self, what: &str, expected: f32, found: f32, tolerance: f32) {
        if !near(expected, found, tolerance) {
            self.fail(&format!("{what} = {expected}"), &format!("{what} = {found}"));
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
        let differs = expected.iter().zip(found).position(|(&a, &b)| !near(a, b, tolerance));
        let Some(i) = differs else {
            return;
        };
        self.fail(
            &list_around(expected, i),
            &format!(
                "{}\n  the first difference is at index {i}: {} instead of {} (tolerance {tolerance})",
                list_around(found, i),
                found[i],
                expected[i]
            ),
        );
    }

    /// As [`close`](Self::close), for several rows of numbers.
    #[track_caller]
    pub fn close_rows(&self, expected: &[Vec<f32>], found: &[Vec<f32>], tolerance: f32) {
        let lengths = |rows: &[Vec<f32>]| rows.iter().map(Vec::len).collect::<Vec<_>>();
        if lengths(found) != lengths(expected) {
            self.fail(&format!("{expected:?}"), &format!("{found:?}"));
        }
        for (row, (expected_row, found_row)) in expected.iter().zip(found).enumerate() {
            for (i, (&a, &b)) in expected_row.iter().zip(found_row).enumerate() {
                if !near(a, b, tolerance) {
                    let (expected, found) =
                        around_difference(&format!("{expected:?}"), &format!("{found:?}"));
                    self.fail(
                        &expected,
                        &format!(
                            "{found}\n  the first difference is at [{row}][{i}]: {b} instead of {a} (tolerance {tolerance})"
                        ),
                    );
                }
            }
        }
    }

    /// For a rule that has no single right answer: `expected` says in words what must hold of
    /// what was `found`.
    #[track_caller]
    pub fn holds(&self, condition: bool, expected: &str, found: impl Debug) {
        if !condition {
            self.fail(expected, &format!("{found:?}"));
        }
    }

    /// As [`holds`](Self::holds), where what was found is told in words.
    #[track_caller]
    pub fn told(&self, condition: bool, expected: &str, found: &str) {
        if !condition {
            self.fail(expected, found);
        }
    }

    #[track_caller]
    pub(super) fn fail(&self, expected: &str, found: &str) -> ! {
        TOLD.set(true);
        let lines = |text: &str| text.lines().map(shortened).collect::<Vec<_>>().join("\n");
        let (expected, found) = (lines(expected), lines(found));
        let tried = self.tried();
        panic!("\n{tried}expected:\n  {expected}\nfound:\n  {found}\n");
    }

    /// The rule, and what it is tried on.
    fn tried(&self) -> String {
        let Self { rule, given, step } = self;
        let step = step.borrow();
        let step = if step.is_empty() {
            String::new()
        } else {
            format!("at:\n  {}\n", shortened(&step))
        };
        format!("rule: {rule}\ngiven:\n{given}{step}")
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        if std::thread::panicking() && !TOLD.replace(true) {
            eprintln!("\nyour code panicked.\n{}", self.tried());
        }
    }
}

fn near(a: f32, b: f32, tolerance: f32) -> bool {
    a == b || (a - b).abs() <= tolerance
}
