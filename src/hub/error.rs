//! Errors of resolving and downloading a model.

use std::path::PathBuf;

use crate::outside::{in_words, quoted, short};

/// An error of resolving or downloading a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(
        "cannot reach {endpoint} ({reason}), and `{model}` is not whole in {cache}: connect to the network, or give the folder of a model",
        endpoint = short(.endpoint),
        reason = in_words(.reason),
        model = short(.model),
        cache = quoted(.cache)
    )]
    Offline {
        endpoint: String,
        model: String,
        cache: PathBuf,
        reason: String,
    },

    #[error(
        "{endpoint} has no model `{model}`, or does not show it: check the name and the revision; for a private model, set HF_TOKEN to an access token",
        endpoint = short(.endpoint), model = short(.model)
    )]
    NotFound { endpoint: String, model: String },

    #[error(
        "`{model}` is not in {cache}: give the name that it has on the hub, such as org/name",
        model = short(.model), cache = quoted(.cache)
    )]
    NotCached { model: String, cache: PathBuf },

    #[error(
        "`{model}` has no file {file}: see {endpoint}/{name}/tree/{revision} for those that it has",
        model = short(.model),
        file = quoted(.file),
        endpoint = short(.endpoint),
        name = short(model.split('@').next().unwrap_or_default()),
        revision = short(model.split('@').nth(1).unwrap_or("main"))
    )]
    NoFile {
        model: String,
        file: String,
        endpoint: String,
    },

    #[error(
        "`{model}` has no GGUF file in {format}: it has {formats}",
        model = short(.model), format = quoted(.format), formats = short(.formats.join(", "))
    )]
    NoFormat {
        model: String,
        format: String,
        formats: Vec<String>,
    },

    #[error(
        "`{model}` has no weights that can be read: neither model.safetensors nor a .gguf file; {hint}",
        model = short(.model)
    )]
    NoWeights { model: String, hint: &'static str },

    #[error(
        "`{model}` was not downloaded: its weights take {gigabytes:.1} GB of memory at least, and {free:.1} GB are free; take a smaller model{smaller}",
        model = short(.model),
        gigabytes = *.bytes as f64 / 1e9,
        free = *.free as f64 / 1e9,
        smaller = or_formats(.smaller)
    )]
    TooLarge {
        model: String,
        bytes: u64,
        free: u64,
        /// The formats in which it would fit.
        smaller: Vec<String>,
    },

    #[error(
        "`{model}` is given only to those who were granted access: ask for it at {endpoint}/{name}, then set HF_TOKEN to an access token of that account",
        name = short(model.split('@').next().unwrap_or_default()),
        model = short(.model),
        endpoint = short(.endpoint)
    )]
    Gated { endpoint: String, model: String },

    #[error(
        "fetching {file} of `{model}` failed: {reason}; run the command again, it goes on where it stopped",
        file = short(.file), model = short(.model), reason = in_words(.reason)
    )]
    Download {
        model: String,
        file: String,
        reason: String,
    },

    #[error(
        "fetching {file} of `{model}` stalled: nothing came for {seconds} s; run the command again, it goes on where it stopped",
        file = short(.file), model = short(.model)
    )]
    Stalled {
        model: String,
        file: String,
        seconds: f64,
    },

    #[error(
        "{file} of `{model}` came damaged: its SHA-256 is {found}, but the hub says {expected}; it was removed, run the command again",
        file = short(.file),
        model = short(.model),
        found = short(.found),
        expected = short(.expected)
    )]
    Damaged {
        model: String,
        file: String,
        found: String,
        expected: String,
    },

    #[error(
        "the environment variable {name} is {value}, but must be {allowed}",
        value = short(.value)
    )]
    Variable {
        name: &'static str,
        value: String,
        allowed: &'static str,
    },

    /// An invalid model name; a cache file that cannot be read.
    #[error(transparent)]
    Library(#[from] crate::Error),
}

fn or_formats(formats: &[String]) -> String {
    match formats {
        [] => String::new(),
        formats => format!(", or it in {}", short(formats.join(" or "))),
    }
}

/// `std::result::Result` with this module's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::outside::assert_one_plain_line;
    use crate::outside::foreign_words::assert_in_words;

    /// One error of each variant, with `text` in place of all external text.
    fn every_error(text: &str) -> Vec<Error> {
        let of = || text.to_owned();
        vec![
            Error::Offline {
                endpoint: of(),
                model: of(),
                cache: PathBuf::from(text),
                reason: of(),
            },
            Error::NotFound { endpoint: of(), model: of() },
            Error::NotCached { model: of(), cache: PathBuf::from(text) },
            Error::NoFile { model: of(), file: of(), endpoint: of() },
            Error::NoFormat { model: of(), format: of(), formats: vec![of(), of()] },
            Error::NoWeights { model: of(), hint: "look elsewhere" },
            Error::TooLarge {
                model: of(),
                bytes: 1 << 40,
                free: 1,
                smaller: vec![of(), of()],
            },
            Error::Gated { endpoint: of(), model: of() },
            Error::Download { model: of(), file: of(), reason: of() },
            Error::Stalled { model: of(), file: of(), seconds: 7.0 },
            Error::Damaged { model: of(), file: of(), found: of(), expected: of() },
            Error::Variable { name: "this", value: of(), allowed: "this" },
            Error::Library(crate::DeviceError::Failed(of()).into()),
        ]
    }

    /// A compile error here is a reminder to add new variants to `every_error`.
    fn is_listed(error: &Error) -> bool {
        match error {
            Error::Offline { .. }
            | Error::NotFound { .. }
            | Error::NotCached { .. }
            | Error::NoFile { .. }
            | Error::NoFormat { .. }
            | Error::NoWeights { .. }
            | Error::TooLarge { .. }
            | Error::Gated { .. }
            | Error::Download { .. }
            | Error::Stalled { .. }
            | Error::Damaged { .. }
            | Error::Variable { .. }
            | Error::Library(_) => true,
        }
    }

    #[test]
    fn every_message_is_in_words() {
        let refused = |mut error| {
            if let Error::Offline { reason, .. } | Error::Download { reason, .. } = &mut error {
                *reason = std::io::Error::from_raw_os_error(111).to_string();
            }
            error
        };
        let errors = every_error("org/name").into_iter().map(refused);
        assert_in_words(&errors.map(|error| error.to_string()).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn an_error_is_one_plain_line_whatever_is_in_it(text in any::<String>(), n in 1..100usize) {
            for error in every_error(&text).into_iter().chain(every_error(&text.repeat(n))) {
                prop_assert!(is_listed(&error));
                assert_one_plain_line(&error);
            }
        }
    }
}
