//! Whatever comes from outside, an error is one line that a terminal shows as it is.

use std::io;

use proptest::prelude::*;
use serde::de::Error as _;

use super::*;
use crate::outside::assert_one_plain_line;

/// An error of each variant, with `text` wherever something comes from outside.
fn every_error(text: &str) -> Vec<Error> {
    vec![
        Error::EmptyPrompt,
        Error::PromptTooLong { prompt: 9, context: 7 },
        Error::TextTooLong { bytes: 9, context: 7, longest: 1 },
        Error::TextTooLarge { bytes: 9, memory: 7 },
        Error::TokenOutOfRange { id: 7, vocab_size: 7 },
        Error::Parameter { name: "this", value: text.to_owned(), allowed: "this" },
        Error::DeviceNotCompiled { name: "this", feature: "this" },
        Error::DeviceMissing { name: "this", reason: text.to_owned() },
        Error::DTypeUnsupported { name: "this", dtype: "this" },
        Error::QuantizedUnsupported { name: "this" },
        Error::NothingQuantized,
        Error::KvFormatUnsupported { format: "this" },
        Error::DraftVocabulary { draft: 7, target: 7 },
        Error::Io { path: PathBuf::from(text), source: io::Error::other(text) },
        Error::NotAModel { folder: PathBuf::from(text), missing: "this" },
        Error::Json {
            origin: text.to_owned(),
            source: serde_json::Error::custom(text),
        },
        Error::Unsupported {
            origin: text.to_owned(),
            field: "this",
            value: text.to_owned(),
            supported: "this",
        },
        Error::Safetensors { origin: text.to_owned(), problem: text.to_owned() },
        Error::TensorOffsets {
            origin: text.to_owned(),
            tensor: text.to_owned(),
            problem: text.to_owned(),
        },
        Error::TensorTwice {
            origin: text.to_owned(),
            tensor: text.to_owned(),
            other: text.to_owned(),
        },
        Error::ShardOutside {
            origin: text.to_owned(),
            tensor: text.to_owned(),
            shard: text.to_owned(),
        },
        Error::ShardMissing {
            origin: text.to_owned(),
            tensor: text.to_owned(),
            shard: text.to_owned(),
        },
        Error::ShardLacks {
            origin: text.to_owned(),
            tensor: text.to_owned(),
            shard: text.to_owned(),
        },
        Error::TensorMissing { origin: text.to_owned(), tensor: text.to_owned() },
        Error::TensorShape {
            origin: text.to_owned(),
            tensor: text.to_owned(),
            found: vec![usize::MAX; text.len()],
            expected: vec![usize::MAX; text.len()],
        },
        Error::TensorDType {
            origin: text.to_owned(),
            tensor: text.to_owned(),
            found: text.to_owned(),
        },
        Error::Gguf { origin: text.to_owned(), problem: text.to_owned() },
        Error::GgufVersion { origin: text.to_owned(), found: text.to_owned() },
        Error::GgufTensor {
            origin: text.to_owned(),
            tensor: text.to_owned(),
            problem: text.to_owned(),
        },
        Error::GgufType {
            origin: text.to_owned(),
            tensor: text.to_owned(),
            found: text.to_owned(),
        },
        Error::GgufPartMissing {
            origin: text.to_owned(),
            count: 7,
            missing: PathBuf::from(text),
        },
        Error::GgufPartForeign {
            origin: text.to_owned(),
            beside: text.to_owned(),
            problem: text.to_owned(),
        },
        Error::SeveralGguf { folder: PathBuf::from(text), names: vec![text.to_owned(); 3] },
        Error::Metadata {
            origin: text.to_owned(),
            key: text.to_owned(),
            problem: text.to_owned(),
        },
        Error::Tokenizer { origin: text.to_owned(), message: text.to_owned() },
        Error::TokenizerTooLarge { origin: text.to_owned(), id: 7, vocab_size: 7 },
        Error::TokenizerTooMany { origin: text.to_owned(), tokens: 9, vocab_size: 7 },
        Error::NoKvCache,
        Error::NoChatTemplate,
        Error::ChatTemplate { origin: text.to_owned(), message: text.to_owned() },
        Error::CacheFull { capacity: 7, length: 7, new: 7 },
        Error::CacheTooLarge { tokens: 7, bytes: 7 },
        Error::KvPoolFull { budget: 7, in_use: 7, needed: 7 },
        Error::KvPoolTooSmall { tokens: 7, capacity: 7 },
        Error::WeightsTooLarge { origin: text.to_owned(), bytes: 7 },
        Error::Logits { step: 7, problem: "this" },
        Error::HiddenStates,
        Error::Scores { step: 7, rule: "this", problem: "this" },
        Error::Threads { reason: text.to_owned() },
        Error::Device(text.to_owned()),
        Error::Panicked { what: "this", message: text.to_owned() },
        Error::Handler(text.into()),
        Error::NothingStarted,
        Error::HandlerReturned,
        Error::WaitInModelThread,
        Error::ShutDown,
        Error::QueueFull { max_waiting: 7, waiting: 7, new: 7 },
        Error::Thread(io::Error::other(text)),
    ]
}

/// A variant that is added here belongs into `every_error` too.
fn is_listed(error: &Error) -> bool {
    match error {
        Error::EmptyPrompt
        | Error::PromptTooLong { .. }
        | Error::TextTooLong { .. }
        | Error::TextTooLarge { .. }
        | Error::TokenOutOfRange { .. }
        | Error::Parameter { .. }
        | Error::DeviceNotCompiled { .. }
        | Error::DeviceMissing { .. }
        | Error::DTypeUnsupported { .. }
        | Error::QuantizedUnsupported { .. }
        | Error::NothingQuantized
        | Error::KvFormatUnsupported { .. }
        | Error::DraftVocabulary { .. }
        | Error::Io { .. }
        | Error::NotAModel { .. }
        | Error::Json { .. }
        | Error::Unsupported { .. }
        | Error::Safetensors { .. }
        | Error::TensorOffsets { .. }
        | Error::TensorTwice { .. }
        | Error::ShardOutside { .. }
        | Error::ShardMissing { .. }
        | Error::ShardLacks { .. }
        | Error::TensorMissing { .. }
        | Error::TensorShape { .. }
        | Error::TensorDType { .. }
        | Error::Gguf { .. }
        | Error::GgufVersion { .. }
        | Error::GgufTensor { .. }
        | Error::GgufType { .. }
        | Error::GgufPartMissing { .. }
        | Error::GgufPartForeign { .. }
        | Error::SeveralGguf { .. }
        | Error::Metadata { .. }
        | Error::Tokenizer { .. }
        | Error::TokenizerTooLarge { .. }
        | Error::TokenizerTooMany { .. }
        | Error::NoKvCache
        | Error::NoChatTemplate
        | Error::ChatTemplate { .. }
        | Error::CacheFull { .. }
        | Error::CacheTooLarge { .. }
        | Error::KvPoolFull { .. }
        | Error::KvPoolTooSmall { .. }
        | Error::WeightsTooLarge { .. }
        | Error::Logits { .. }
        | Error::HiddenStates
        | Error::Scores { .. }
        | Error::Device(_)
        | Error::Panicked { .. }
        | Error::Handler(_)
        | Error::NothingStarted
        | Error::HandlerReturned
        | Error::WaitInModelThread
        | Error::ShutDown
        | Error::QueueFull { .. }
        | Error::Threads { .. }
        | Error::Thread(_) => true,
    }
}

fn assert_plain(text: &str) {
    for error in every_error(text) {
        assert!(is_listed(&error));
        assert_one_plain_line(&error);
    }
}

#[test]
fn long_texts_and_controls_are_made_plain() {
    for text in [
        "\u{1b}[2J\r\n\u{202e}\u{9b}31m\0\u{2028}",
        &"line\n".repeat(100_000),
        "",
    ] {
        assert_plain(text);
    }
}

proptest! {
    #[test]
    fn an_error_is_one_plain_line_whatever_is_in_it(text in any::<String>(), n in 1..100usize) {
        assert_plain(&text);
        assert_plain(&text.repeat(n));
    }
}
