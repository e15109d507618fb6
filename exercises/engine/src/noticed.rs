//! The first result of a part of yours that is not the book's, for the same input.

use std::collections::HashMap;
use std::fmt;
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::broken::call;
use crate::parts::Parts;
use crate::shown::Lines;

/// A result that differs, and a number by more than rounding.
#[derive(Debug, Clone, PartialEq)]
pub struct Odd {
    pub part: &'static str,
    /// Which call of the part it was, counted from 1.
    pub call: usize,
    /// What differs.
    pub of: String,
    pub found: String,
    pub expected: String,
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, call, of, found, expected } = self;
        write!(f, "call {call} of `{part}`, {of}: {found} instead of {expected}")
    }
}

/// What was noticed in a story.
#[derive(Debug, Default)]
pub struct Noticed(Mutex<(HashMap<&'static str, usize>, Option<Odd>)>);

impl Noticed {
    pub fn odd(&self) -> Option<Odd> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}

static BOOK: LazyLock<Parts> = LazyLock::new(Parts::of_the_book);

impl Parts {
    /// Asks a part. Where it is yours, the book's is asked the same, until the two have differed.
    pub fn ask<T: Numbers>(&self, part: &'static str, run: impl Fn(&Self) -> T) -> T {
        let result = call(part, || run(self));
        self.compare(part, "its result", &result, || run(&BOOK));
        result
    }

    /// Notices where numbers from a part of yours differ from the book's. `expected` computes the
    /// book's, and is asked until the two have differed.
    pub fn compare<T: Numbers>(
        &self,
        part: &'static str,
        of: &'static str,
        found: &T,
        expected: impl FnOnce() -> T,
    ) {
        self.notice(part, || first_odd(of, found, &expected()));
    }

    /// Asks a part for something that is never rounded, as [`Self::ask`] does: what is no number, or an
    /// id, where one more is another token.
    pub fn ask_exactly<T: PartialEq + Lines>(
        &self,
        part: &'static str,
        of: &'static str,
        run: impl Fn(&Self) -> T,
    ) -> T {
        let result = call(part, || run(self));
        self.notice(part, || {
            let expected = run(&BOOK);
            (result != expected).then(|| first_line(of, &result, &expected))
        });
        result
    }

    /// Counts a call of a part of yours, and asks whether it is the first that differs.
    fn notice(&self, part: &'static str, first: impl FnOnce() -> Option<Difference>) {
        if !self.is_yours(part) {
            return;
        }
        let (calls, odd) = &mut *self.noticed.0.lock().unwrap_or_else(PoisonError::into_inner);
        let call = calls.entry(part).or_default();
        *call += 1;
        if odd.is_none() {
            let call = *call;
            *odd = first().map(|Difference { of, found, expected }| Odd {
                part,
                call,
                of,
                found,
                expected,
            });
        }
    }
}

struct Difference {
    of: String,
    found: String,
    expected: String,
}

/// The first line that differs.
fn first_line<T: Lines>(of: &str, found: &T, expected: &T) -> Difference {
    let (found, expected) = (found.lines(), expected.lines());
    let longest = found.len().max(expected.len());
    let differs = |i: &usize| found.get(*i) != expected.get(*i);
    let line = (0..longest).find(differs).unwrap_or(0);
    let shown = |lines: &[String]| lines.get(line).cloned().unwrap_or("nothing".to_owned());
    let of = if longest > 1 {
        format!("line {} of {of}", line + 1)
    } else {
        of.to_owned()
    };
    Difference { of, found: shown(&found), expected: shown(&expected) }
}

fn first_odd<T: Numbers>(of: &'static str, found: &T, expected: &T) -> Option<Difference> {
    let (mut all_found, mut all_expected) = (Vec::new(), Vec::new());
    found.push_to(&mut all_found);
    expected.push_to(&mut all_expected);
    let at = |numbers: &[f64], i: usize| numbers.get(i).copied();
    let pair = |i| (at(&all_found, i), at(&all_expected, i));
    let same = |(found, expected)| match (found, expected) {
        (Some(a), Some(b)) => f64::abs(a - b) <= 1e-3 * f64::abs(b) + 1e-4,
        _ => false,
    };
    let length = all_found.len().max(all_expected.len());
    let i = (0..length).find(|&i| !same(pair(i)))?;
    let (found, expected) = pair(i);
    let shown = |number: Option<f64>| match number {
        None => "nothing".to_owned(),
        // As many digits as an f32 has.
        Some(number) => (number as f32).to_string(),
    };
    Some(Difference {
        of: format!("number {} of {of}", i + 1),
        found: shown(found),
        expected: shown(expected),
    })
}

/// The numbers of a result, one after the other.
pub trait Numbers {
    fn push_to(&self, numbers: &mut Vec<f64>);
}

impl Numbers for f32 {
    fn push_to(&self, numbers: &mut Vec<f64>) {
        numbers.push((*self).into());
    }
}

impl Numbers for bool {
    fn push_to(&self, numbers: &mut Vec<f64>) {
        numbers.push(u8::from(*self).into());
    }
}

impl Numbers for usize {
    fn push_to(&self, numbers: &mut Vec<f64>) {
        numbers.push(*self as f64);
    }
}

impl<T: Numbers> Numbers for Vec<T> {
    fn push_to(&self, numbers: &mut Vec<f64>) {
        self.iter().for_each(|part| part.push_to(numbers));
    }
}

impl<T: Numbers, const N: usize> Numbers for [T; N] {
    fn push_to(&self, numbers: &mut Vec<f64>) {
        self.iter().for_each(|part| part.push_to(numbers));
    }
}

impl<T: Numbers> Numbers for Option<T> {
    fn push_to(&self, numbers: &mut Vec<f64>) {
        self.iter().for_each(|part| part.push_to(numbers));
    }
}

impl<T: Numbers, E> Numbers for Result<T, E> {
    fn push_to(&self, numbers: &mut Vec<f64>) {
        self.iter().for_each(|part| part.push_to(numbers));
    }
}
