//! Whatever comes from outside, an error is one line that a terminal shows as it is.

use std::io;

use proptest::prelude::*;
use serde::de::Error as _;

use super::*;

/// No message is longer, in characters.
const LONGEST_MESSAGE: usize = 1500;

/// An error of each variant, with `text` wherever something comes from outside.
fn every_error(text: &str) -> Vec<Error> {
    vec![
        Error::EmptyPrompt,
        Error::PromptTooLong { prompt: 9, context: 7 },
        Error::TokenOutOfRange { id: 7, vocab_size: 7 },
        Error::Parameter { name: "this", value: text.to_owned(), allowed: "this" },
        Error::DeviceNotCompiled { name: "this", feature: "this" },
        Error::DeviceMissing { name: "this", reason: text.to_owned() },
        Error::DTypeUnsupported { name: "this", dtype: "this" },
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
        Error::Tokenizer { origin: text.to_owned(), message: text.to_owned() },
        Error::TokenizerTooLarge { origin: text.to_owned(), id: 7, vocab_size: 7 },
        Error::NoKvCache,
        Error::NoChatTemplate,
        Error::ChatTemplate { origin: text.to_owned(), message: text.to_owned() },
        Error::HubNotCompiled { name: text.to_owned() },
        Error::HubOffline {
            endpoint: text.to_owned(),
            model: text.to_owned(),
            cache: PathBuf::from(text),
            reason: text.to_owned(),
        },
        Error::HubNotFound { endpoint: text.to_owned(), model: text.to_owned() },
        Error::HubGated { endpoint: text.to_owned(), model: text.to_owned() },
        Error::HubDownload {
            model: text.to_owned(),
            file: text.to_owned(),
            reason: text.to_owned(),
        },
        Error::HubStalled { model: text.to_owned(), file: text.to_owned(), seconds: 7.0 },
        Error::HubDamaged {
            model: text.to_owned(),
            file: text.to_owned(),
            found: text.to_owned(),
            expected: text.to_owned(),
        },
        Error::CacheFull { capacity: 7, length: 7, new: 7 },
        Error::CacheTooLarge { tokens: 7, bytes: 7 },
        Error::WeightsTooLarge { origin: text.to_owned(), bytes: 7 },
        Error::Logits { step: 7, problem: "this" },
        Error::Scores { step: 7, rule: "this", problem: "this" },
        Error::Variable { name: "this", value: text.to_owned(), allowed: "this" },
        Error::Threads { reason: text.to_owned() },
        Error::Device(text.to_owned()),
        Error::Panicked { what: "this", message: text.to_owned() },
        Error::NoPrompts { path: PathBuf::from(text) },
        Error::Handler(text.into()),
        Error::NothingStarted,
        Error::HandlerReturned,
        Error::WaitInModelThread,
        Error::ShutDown,
        Error::QueueFull { max_waiting: 7, waiting: 7, new: 7 },
        Error::Thread(io::Error::other(text)),
        Error::Output(io::Error::other(text)),
        Error::Write { path: PathBuf::from(text), source: io::Error::other(text) },
        Error::ChartsNotCompiled,
        Error::ChartFormat { path: PathBuf::from(text), allowed: "this" },
        Error::ChartEmpty { title: text.to_owned() },
        Error::ChartValue { series: text.to_owned(), value: 7.0, allowed: "this" },
        Error::ChartLength { series: text.to_owned(), values: 7, tokens: 7 },
        Error::LossLog { line: 7, problem: "this" },
        Error::Drawing(text.to_owned()),
    ]
}

/// A variant that is added here belongs into `every_error` too.
fn is_listed(error: &Error) -> bool {
    match error {
        Error::EmptyPrompt
        | Error::PromptTooLong { .. }
        | Error::TokenOutOfRange { .. }
        | Error::Parameter { .. }
        | Error::Variable { .. }
        | Error::DeviceNotCompiled { .. }
        | Error::DeviceMissing { .. }
        | Error::DTypeUnsupported { .. }
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
        | Error::Tokenizer { .. }
        | Error::TokenizerTooLarge { .. }
        | Error::NoKvCache
        | Error::NoChatTemplate
        | Error::ChatTemplate { .. }
        | Error::HubNotCompiled { .. }
        | Error::HubOffline { .. }
        | Error::HubNotFound { .. }
        | Error::HubGated { .. }
        | Error::HubDownload { .. }
        | Error::HubStalled { .. }
        | Error::HubDamaged { .. }
        | Error::CacheFull { .. }
        | Error::CacheTooLarge { .. }
        | Error::WeightsTooLarge { .. }
        | Error::Logits { .. }
        | Error::Scores { .. }
        | Error::Device(_)
        | Error::Panicked { .. }
        | Error::NoPrompts { .. }
        | Error::Handler(_)
        | Error::NothingStarted
        | Error::HandlerReturned
        | Error::WaitInModelThread
        | Error::ShutDown
        | Error::QueueFull { .. }
        | Error::Threads { .. }
        | Error::Thread(_)
        | Error::Output(_)
        | Error::Write { .. }
        | Error::ChartsNotCompiled
        | Error::ChartFormat { .. }
        | Error::ChartEmpty { .. }
        | Error::ChartValue { .. }
        | Error::ChartLength { .. }
        | Error::LossLog { .. }
        | Error::Drawing(_) => true,
    }
}

fn assert_one_plain_line(text: &str) {
    for error in every_error(text) {
        assert!(is_listed(&error));
        let message = error.to_string();
        let hidden =
            message.chars().find(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{202e}'));
        assert_eq!(hidden, None, "{message:?}");
        let length = message.chars().count();
        assert!(length <= LONGEST_MESSAGE, "{length} characters: {message}");
    }
}

#[test]
fn long_texts_and_controls_are_made_plain() {
    for text in [
        "\u{1b}[2J\r\n\u{202e}\u{9b}31m\0\u{2028}",
        &"line\n".repeat(100_000),
        "",
    ] {
        assert_one_plain_line(text);
    }
}

proptest! {
    #[test]
    fn an_error_is_one_plain_line_whatever_is_in_it(text in any::<String>(), n in 1..100usize) {
        assert_one_plain_line(&text);
        assert_one_plain_line(&text.repeat(n));
    }
}
