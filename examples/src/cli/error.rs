//! Errors of an example: its own, and those of loading and running a model.

use std::io;
use std::path::PathBuf;

use slowburn::outside::{in_words, quoted};

/// An error of an example.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the library or of the model's flags.
    #[error(transparent)]
    Model(#[from] slowburn_flags::Error),

    #[cfg(feature = "plot")]
    #[error(transparent)]
    Chart(#[from] crate::chart::Error),

    #[error("{path} holds no prompt: write one in each line", path = quoted(.path))]
    NoPrompts { path: PathBuf },

    #[error("this compares all formats of weights: leave out `--dtype` and `--quantize`")]
    AllFormats,

    #[error("there is no figure of this part: `--part windows`, `experts` and `rope` have one")]
    NoFigure,

    #[error("cannot write {path}: {source}", path = quoted(.path), source = in_words(.source))]
    Write { path: PathBuf, source: io::Error },

    #[error("cannot read the next line: {reason}", reason = in_words(.0))]
    Input(io::Error),

    #[error("cannot write the output: {reason}", reason = in_words(.0))]
    Output(io::Error),

    #[cfg(feature = "remote")]
    #[error("cannot lend a device at {address}: {reason}", reason = in_words(.reason))]
    Lend {
        address: std::net::SocketAddr,
        reason: String,
    },

    #[cfg(feature = "remote")]
    #[error(
        "any client that reaches {address} could use this machine: give a token in SLOWBURN_DEVICE_TOKEN, or lend the device at 127.0.0.1 and reach it by an SSH tunnel"
    )]
    LendToAll { address: std::net::SocketAddr },

    #[error("charts are not compiled in: add `--features plot` to the cargo command")]
    ChartsNotCompiled,
}

impl From<slowburn::Error> for Error {
    fn from(error: slowburn::Error) -> Self {
        Error::Model(error.into())
    }
}

impl Error {
    /// The exit code: 2 for a wrong command line, whatever the machine and its settings, and 1 for
    /// all other errors.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Model(error) => error.exit_code(),
            #[cfg(feature = "plot")]
            Error::Chart(crate::chart::Error::Format { .. }) => 2,
            #[cfg(feature = "plot")]
            Error::Chart(_) => 1,
            Error::ChartsNotCompiled | Error::AllFormats | Error::NoFigure => 2,
            #[cfg(feature = "remote")]
            Error::LendToAll { .. } => 2,
            #[cfg(feature = "remote")]
            Error::Lend { .. } => 1,
            Error::NoPrompts { .. } | Error::Write { .. } | Error::Input(_) | Error::Output(_) => 1,
        }
    }
}

/// `std::result::Result` with this module's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foreign_words::assert_in_words;
    use crate::plain_line::{assert_one_plain_line, hostile_texts};

    #[test]
    fn an_error_is_one_plain_line_whatever_is_in_it() {
        for text in hostile_texts() {
            for error in [
                Error::NoPrompts { path: PathBuf::from(&text) },
                Error::Write {
                    path: PathBuf::from(&text),
                    source: io::Error::other(text.clone()),
                },
                Error::Output(io::Error::other(text)),
                Error::ChartsNotCompiled,
            ] {
                assert_one_plain_line(&error);
            }
        }
    }

    #[test]
    fn every_message_is_in_words() {
        let of_system = || io::Error::from_raw_os_error(20);
        let path = || PathBuf::from("prompts.txt");
        let errors = [
            Error::NoPrompts { path: path() },
            Error::AllFormats,
            Error::NoFigure,
            Error::Write { path: path(), source: of_system() },
            Error::Input(of_system()),
            Error::Output(of_system()),
            Error::ChartsNotCompiled,
            #[cfg(feature = "remote")]
            Error::Lend {
                address: ([127, 0, 0, 1], 3000).into(),
                reason: of_system().to_string(),
            },
            #[cfg(feature = "remote")]
            Error::LendToAll { address: ([0, 0, 0, 0], 3000).into() },
        ];
        assert_in_words(&errors.map(|error| error.to_string()));
    }

    #[cfg(feature = "plot")]
    #[test]
    fn a_figure_of_another_kind_is_a_wrong_command_line() {
        let error = crate::chart::Format::of(std::path::Path::new("chart.pdf")).unwrap_err();
        assert_eq!(Error::from(error).exit_code(), 2);
    }
}
