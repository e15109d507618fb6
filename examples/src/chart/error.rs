//! Errors of drawing a figure.

use std::path::PathBuf;

use slowburn::outside::{in_words, quoted, short};

/// An error of drawing a figure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("cannot draw a chart to {path}: its name must end in {allowed}", path = quoted(.path))]
    Format {
        path: PathBuf,
        allowed: &'static str,
    },

    #[error(
        "the chart `{title}` has nothing to show: give it at least one value",
        title = short(.title)
    )]
    Empty { title: String },

    #[error(
        "`{series}` holds {value}, which cannot be drawn: it must be {allowed}",
        series = short(.series)
    )]
    Value {
        series: String,
        value: f64,
        allowed: &'static str,
    },

    #[error(
        "`{series}` has {values} values for {tokens} tokens: give one value a token",
        series = short(.series)
    )]
    Length {
        series: String,
        values: usize,
        tokens: usize,
    },

    #[error("line {line} of the training log is not as expected: {problem}")]
    LossLog { line: usize, problem: &'static str },

    #[error("a figure could not be drawn: {reason}", reason = short(.0))]
    Drawing(String),

    #[error("cannot write {path}: {source}", path = quoted(.path), source = in_words(.source))]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
}

/// `std::result::Result` with this module's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foreign_words::assert_in_words;
    use crate::plain_line::{assert_one_plain_line, hostile_texts};

    /// One error of each variant, with `text` in place of all external text.
    fn every_error(text: &str) -> Vec<Error> {
        let of = || text.to_owned();
        vec![
            Error::Format { path: PathBuf::from(text), allowed: "this" },
            Error::Empty { title: of() },
            Error::Value { series: of(), value: 7.0, allowed: "this" },
            Error::Length { series: of(), values: 7, tokens: 7 },
            Error::LossLog { line: 7, problem: "this" },
            Error::Drawing(of()),
            Error::Write {
                path: PathBuf::from(text),
                source: std::io::Error::other(of()),
            },
        ]
    }

    /// A compile error here is a reminder to add new variants to `every_error`.
    fn is_listed(error: &Error) -> bool {
        match error {
            Error::Format { .. }
            | Error::Empty { .. }
            | Error::Value { .. }
            | Error::Length { .. }
            | Error::LossLog { .. }
            | Error::Drawing(_)
            | Error::Write { .. } => true,
        }
    }

    #[test]
    fn every_message_is_in_words() {
        let messages = every_error("chart.svg").iter().map(Error::to_string).collect::<Vec<_>>();
        assert_in_words(&messages);
    }

    #[test]
    fn an_error_is_one_plain_line_whatever_is_in_it() {
        for error in hostile_texts().iter().flat_map(|text| every_error(text)) {
            assert!(is_listed(&error));
            assert_one_plain_line(&error);
        }
    }
}
