//! Errors of a command: the library's, with the flag that helps, and those of the model's flags.

use slowburn::outside::short;
use slowburn::{DeviceError, Error as LibraryError, LoadError, RequestError, ServiceError};

/// An error of a command that loads and runs a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the library, with the flag that helps.
    #[error("{0}{advice}", advice = advice_on(.0))]
    Library(#[from] LibraryError),

    #[cfg(feature = "hub")]
    #[error(transparent)]
    Hub(#[from] slowburn::hub::Error),

    #[error(
        "`--draft` names a draft model, but nobody asks it: add `--speculate draft` or `--speculate auto`"
    )]
    UnusedDraft,

    #[error(
        "no draft model is bundled for this model: name one with its vocabulary by `--draft`, or take `--speculate lookup`"
    )]
    NoDraft,

    #[error(
        "`hf:{name}` is on the Hugging Face Hub, which this program was built without: add `--features hub` to the cargo command, or give a folder",
        name = short(.name)
    )]
    HubNotCompiled { name: String },
}

/// Advice on the flag that resolves a library error; empty if there is none.
fn advice_on(error: &LibraryError) -> String {
    let advice = match error {
        LibraryError::Device(DeviceError::NotCompiled { feature, .. })
        | LibraryError::Request(RequestError::GrammarNotCompiled { feature, .. }) => {
            return format!(" (add `--features {feature}` to the cargo command)");
        }
        LibraryError::Device(DeviceError::Missing { .. }) => " (`--device auto`)",
        LibraryError::Device(DeviceError::DTypeUnsupported { .. }) => " (`--dtype f32`)",
        LibraryError::Device(DeviceError::KvFormatUnsupported { .. }) => {
            " (`--device cpu`, or without `--kv-dtype`)"
        }
        LibraryError::Device(DeviceError::QuantizedUnsupported { .. }) => {
            " (`--device cpu`, or without `--quantize`, `--quantize-embedding` and `--activations`)"
        }
        LibraryError::Device(DeviceError::ActivationsUnsupported { .. }) => {
            " (`--device cpu`, or without `--activations`)"
        }
        LibraryError::Load(LoadError::NothingQuantized) => {
            " (`--quantize int8`, or without `--activations`)"
        }
        LibraryError::Load(LoadError::NothingInBf16) => {
            " (`--dtype bf16`, or without `--activations`)"
        }
        LibraryError::Load(LoadError::WeightsTooLarge { .. }) => {
            " (`--dtype f16`, `--quantize int8` or `int4`)"
        }
        LibraryError::Device(DeviceError::AdaptersUnsupported) => {
            " (`--device cpu`, or without `--lora`)"
        }
        LibraryError::Request(RequestError::DraftVocabulary { .. }) => {
            " (`--draft`), or take `--speculate lookup`, which needs none"
        }
        LibraryError::Request(RequestError::CacheTooLarge { .. }) => " (`--max-tokens`)",
        LibraryError::Service(ServiceError::KvPoolFull { .. })
        | LibraryError::Request(RequestError::KvPoolTooSmall { .. }) => {
            " (`--kv-cache-bytes`, `--max-tokens`)"
        }
        LibraryError::Request(RequestError::NoChatTemplate | RequestError::ChatTemplate { .. }) => {
            ", or leave out `--chat`"
        }
        _ => "",
    };
    advice.to_owned()
}

impl Error {
    /// The exit code: 2 for a wrong command line, whatever the machine and its settings, and 1 for
    /// all other errors.
    pub fn exit_code(&self) -> u8 {
        let is_usage = match self {
            Error::Library(error) => is_usage(error),
            #[cfg(feature = "hub")]
            Error::Hub(slowburn::hub::Error::Library(error)) => is_usage(error),
            #[cfg(feature = "hub")]
            Error::Hub(_) => false,
            Error::HubNotCompiled { .. } | Error::UnusedDraft | Error::NoDraft => true,
        };
        if is_usage { 2 } else { 1 }
    }
}

fn is_usage(error: &LibraryError) -> bool {
    matches!(
        error,
        LibraryError::Request(RequestError::EmptyPrompt)
            | LibraryError::Request(RequestError::PromptTooLong { .. })
            | LibraryError::Request(RequestError::TextTooLong { .. })
            | LibraryError::Request(RequestError::TokenOutOfRange { .. })
            | LibraryError::Request(RequestError::Parameter { .. })
            | LibraryError::Request(RequestError::NoChatTemplate)
            | LibraryError::Device(DeviceError::NotCompiled { .. })
            | LibraryError::Device(DeviceError::DTypeUnsupported { .. })
            | LibraryError::Device(DeviceError::QuantizedUnsupported { .. })
            | LibraryError::Device(DeviceError::ActivationsUnsupported { .. })
            | LibraryError::Load(LoadError::NothingQuantized)
            | LibraryError::Load(LoadError::NothingInBf16)
            | LibraryError::Request(RequestError::DraftVocabulary { .. })
            | LibraryError::Request(RequestError::AdapterUnknown { .. })
            | LibraryError::Device(DeviceError::AdaptersUnsupported)
            | LibraryError::Request(RequestError::Grammar { .. })
            | LibraryError::Request(RequestError::GrammarTooLarge { .. })
            | LibraryError::Request(RequestError::GrammarNotCompiled { .. })
            | LibraryError::Request(RequestError::GrammarEmpty)
            | LibraryError::Request(RequestError::GrammarUnspellable)
            | LibraryError::Device(DeviceError::KvFormatUnsupported { .. })
    )
}

/// `std::result::Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
#[path = "../../../tests/common/foreign_words.rs"]
mod foreign_words;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::foreign_words::assert_in_words;
    use super::*;

    proptest! {
        #[test]
        fn an_error_is_one_plain_line_whatever_is_in_it(text in any::<String>(), n in 1..100usize) {
            for text in [text.clone(), text.repeat(n)] {
                let message = text.clone();
                for error in [
                    Error::HubNotCompiled { name: text.clone() },
                    LibraryError::Request(RequestError::ChatTemplate { origin: text, message }).into(),
                ] {
                    let message = error.to_string();
                    let is_hidden = |c: char| c.is_control() || "\u{2028}\u{202e}".contains(c);
                    prop_assert!(!message.contains(is_hidden), "{message:?}");
                    prop_assert!(message.chars().count() <= 1500, "{message}");
                }
            }
        }
    }

    /// An error of each variant, those of the library with advice behind them.
    #[test]
    fn every_message_is_in_words() {
        let name = || "org/name".to_owned();
        let of_library: Vec<LibraryError> = vec![
            DeviceError::NotCompiled { name: "cuda", feature: "cuda" }.into(),
            RequestError::GrammarNotCompiled { kind: "a JSON schema", feature: "schema" }.into(),
            DeviceError::Missing { name: "cuda", reason: "no driver".to_owned() }.into(),
            DeviceError::DTypeUnsupported { name: "cuda", dtype: "f16" }.into(),
            DeviceError::KvFormatUnsupported { format: "int8" }.into(),
            DeviceError::QuantizedUnsupported { name: "cuda" }.into(),
            DeviceError::ActivationsUnsupported { name: "cuda", format: "int8" }.into(),
            DeviceError::AdaptersUnsupported.into(),
            LoadError::NothingQuantized.into(),
            LoadError::NothingInBf16.into(),
            LoadError::WeightsTooLarge { origin: name(), bytes: 7 }.into(),
            RequestError::DraftVocabulary { draft: 7, target: 9 }.into(),
            RequestError::CacheTooLarge { tokens: 7, bytes: 9 }.into(),
            ServiceError::KvPoolFull { budget: 9, in_use: 7, needed: 7 }.into(),
            RequestError::KvPoolTooSmall { tokens: 9, capacity: 7 }.into(),
            RequestError::NoChatTemplate.into(),
            RequestError::ChatTemplate { origin: name(), message: "no user".to_owned() }.into(),
        ];
        let mut errors: Vec<Error> = of_library.into_iter().map(Error::from).collect();
        errors.extend([
            Error::UnusedDraft,
            Error::NoDraft,
            Error::HubNotCompiled { name: name() },
        ]);
        assert_in_words(&errors.iter().map(Error::to_string).collect::<Vec<_>>());
    }

    #[test]
    fn advice_names_the_flag() {
        let no_template = Error::from(LibraryError::Request(RequestError::NoChatTemplate));
        assert!(no_template.to_string().ends_with("trained for chat, or leave out `--chat`"));
        let no_f16 =
            LibraryError::Device(DeviceError::DTypeUnsupported { name: "cuda", dtype: "f16" });
        assert!(Error::from(no_f16).to_string().ends_with("take f32 (`--dtype f32`)"));
    }
}
