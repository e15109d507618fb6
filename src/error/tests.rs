//! Whatever comes from outside, an error is one line that a terminal shows as it is.

use std::io;
use std::path::PathBuf;

use proptest::prelude::*;
use serde::de::Error as _;

use super::*;
use crate::outside::assert_one_plain_line;
use crate::outside::foreign_words::assert_in_words;

/// An error of each variant, with `text` wherever something comes from outside.
fn every_error(text: &str) -> Vec<Error> {
    vec![
        Error::Request(RequestError::EmptyPrompt),
        Error::Request(RequestError::PromptTooLong { prompt: 9, context: 7 }),
        Error::Request(RequestError::TextTooLong { bytes: 9, context: 7 }),
        Error::Request(RequestError::TextTooLarge { bytes: 9, memory: 7 }),
        Error::Request(RequestError::TokenOutOfRange { id: 7, vocab_size: 7 }),
        Error::Request(RequestError::Parameter {
            name: "this",
            value: text.to_owned(),
            allowed: "this",
        }),
        Error::Device(DeviceError::NotCompiled { name: "this", feature: "this" }),
        Error::Device(DeviceError::Missing { name: "this", reason: text.to_owned() }),
        Error::Device(DeviceError::Unreachable {
            address: "gpu.example:3000".to_owned(),
            reason: text.to_owned(),
        }),
        Error::Device(DeviceError::DTypeUnsupported { name: "this", dtype: "this" }),
        Error::Device(DeviceError::QuantizedUnsupported { name: "this" }),
        Error::Device(DeviceError::ActivationsUnsupported { name: "this", format: "this" }),
        Error::Device(DeviceError::AdaptersUnsupported),
        Error::Request(RequestError::AdapterForeign),
        Error::Request(RequestError::AdapterUnknown {
            name: text.to_owned(),
            known: text.to_owned(),
        }),
        Error::Load(LoadError::NotAnAdapter { folder: PathBuf::from(text), missing: "this" }),
        Error::Load(LoadError::Adapter { origin: text.to_owned(), problem: text.to_owned() }),
        Error::Load(LoadError::NothingQuantized),
        Error::Load(LoadError::NothingInBf16),
        Error::Device(DeviceError::KvFormatUnsupported { format: "this" }),
        Error::Request(RequestError::DraftVocabulary { draft: 7, target: 7 }),
        Error::Load(LoadError::Io { path: PathBuf::from(text), source: io::Error::other(text) }),
        Error::Load(LoadError::Write { path: PathBuf::from(text), source: io::Error::other(text) }),
        Error::Load(LoadError::NotAModel { folder: PathBuf::from(text), missing: "this" }),
        Error::Load(LoadError::Json {
            origin: text.to_owned(),
            source: serde_json::Error::custom(text),
        }),
        Error::Load(LoadError::Unsupported {
            origin: text.to_owned(),
            field: "this",
            value: text.to_owned(),
            supported: "this",
        }),
        Error::Load(LoadError::Safetensors { origin: text.to_owned(), problem: text.to_owned() }),
        Error::Load(LoadError::TensorOffsets {
            origin: text.to_owned(),
            tensor: text.to_owned(),
            problem: text.to_owned(),
        }),
        Error::Load(LoadError::TensorTwice {
            origin: text.to_owned(),
            tensor: text.to_owned(),
            other: text.to_owned(),
        }),
        Error::Load(LoadError::ShardOutside {
            origin: text.to_owned(),
            tensor: text.to_owned(),
            shard: text.to_owned(),
        }),
        Error::Load(LoadError::ShardMissing {
            origin: text.to_owned(),
            tensor: text.to_owned(),
            shard: text.to_owned(),
        }),
        Error::Load(LoadError::ShardLacks {
            origin: text.to_owned(),
            tensor: text.to_owned(),
            shard: text.to_owned(),
        }),
        Error::Load(LoadError::TensorMissing { origin: text.to_owned(), tensor: text.to_owned() }),
        Error::Load(LoadError::TensorShape {
            origin: text.to_owned(),
            tensor: text.to_owned(),
            found: vec![usize::MAX; text.len()],
            expected: vec![usize::MAX; text.len()],
        }),
        Error::Load(LoadError::TensorDType {
            origin: text.to_owned(),
            tensor: text.to_owned(),
            found: text.to_owned(),
        }),
        Error::Load(LoadError::QuantizedTensor {
            origin: text.to_owned(),
            tensor: text.to_owned(),
            problem: text.to_owned(),
        }),
        Error::Load(LoadError::Gguf { origin: text.to_owned(), problem: text.to_owned() }),
        Error::Load(LoadError::GgufVersion { origin: text.to_owned(), found: text.to_owned() }),
        Error::Load(LoadError::GgufTensor {
            origin: text.to_owned(),
            tensor: text.to_owned(),
            problem: text.to_owned(),
        }),
        Error::Load(LoadError::GgufType {
            origin: text.to_owned(),
            tensor: text.to_owned(),
            found: text.to_owned(),
        }),
        Error::Load(LoadError::GgufPartMissing {
            origin: text.to_owned(),
            count: 7,
            missing: PathBuf::from(text),
        }),
        Error::Load(LoadError::GgufPartForeign {
            origin: text.to_owned(),
            beside: text.to_owned(),
            problem: text.to_owned(),
        }),
        Error::Load(LoadError::SeveralGguf {
            folder: PathBuf::from(text),
            names: vec![text.to_owned(); 3],
        }),
        Error::Load(LoadError::Metadata {
            origin: text.to_owned(),
            key: text.to_owned(),
            problem: text.to_owned(),
        }),
        Error::Load(LoadError::Tokenizer { origin: text.to_owned(), message: text.to_owned() }),
        Error::Load(LoadError::TokenizerTooLarge { origin: text.to_owned(), id: 7, vocab_size: 7 }),
        Error::Load(LoadError::TokenizerTooMany {
            origin: text.to_owned(),
            tokens: 9,
            vocab_size: 7,
        }),
        Error::Request(RequestError::NoChatTemplate),
        Error::Request(RequestError::ChatTemplate {
            origin: text.to_owned(),
            message: text.to_owned(),
        }),
        Error::Request(RequestError::CacheFull { capacity: 7, length: 7, new: 7 }),
        Error::Request(RequestError::CacheTooLarge { tokens: 7, bytes: 7 }),
        Error::Service(ServiceError::KvPoolFull { budget: 7, in_use: 7, needed: 7 }),
        Error::Request(RequestError::KvPoolTooSmall { tokens: 7, capacity: 7 }),
        Error::Load(LoadError::WeightsTooLarge { origin: text.to_owned(), bytes: 7 }),
        Error::Device(DeviceError::Logits { step: 7, problem: "this" }),
        Error::Device(DeviceError::HiddenStates),
        Error::Request(RequestError::Scores { step: 7, rule: "this", problem: "this" }),
        Error::Request(RequestError::Grammar { kind: "this", problem: text.to_owned() }),
        Error::Request(RequestError::GrammarTooLarge { limit: 7 }),
        Error::Request(RequestError::GrammarNotCompiled { kind: "this", feature: "this" }),
        Error::Request(RequestError::HealingByParser),
        Error::Request(RequestError::GrammarEmpty),
        Error::Request(RequestError::GrammarUnspellable),
        Error::Request(RequestError::GrammarCancelled),
        Error::Request(RequestError::NoTokenFits { step: 7 }),
        Error::Request(RequestError::OutsideGrammar { step: 7, token: 7 }),
        Error::Request(RequestError::ConstraintVocabulary { constraint: 7, model: 7 }),
        Error::Service(ServiceError::Threads { reason: text.to_owned() }),
        Error::Device(DeviceError::Failed(text.to_owned())),
        Error::Service(ServiceError::Panicked { what: "this", message: text.to_owned() }),
        Error::Service(ServiceError::Handler(text.into())),
        Error::Service(ServiceError::NothingStarted),
        Error::Service(ServiceError::HandlerReturned),
        Error::Service(ServiceError::WaitInModelThread),
        Error::Service(ServiceError::ShutDown),
        Error::Service(ServiceError::QueueFull { max_waiting: 7, waiting: 7, new: 7 }),
        Error::Service(ServiceError::Thread(io::Error::other(text))),
    ]
}

/// A variant that is added here belongs into `every_error` too.
fn is_listed(error: &Error) -> bool {
    match error {
        Error::Request(RequestError::EmptyPrompt)
        | Error::Request(RequestError::PromptTooLong { .. })
        | Error::Request(RequestError::TextTooLong { .. })
        | Error::Request(RequestError::TextTooLarge { .. })
        | Error::Request(RequestError::TokenOutOfRange { .. })
        | Error::Request(RequestError::Parameter { .. })
        | Error::Device(DeviceError::NotCompiled { .. })
        | Error::Device(DeviceError::Missing { .. })
        | Error::Device(DeviceError::Unreachable { .. })
        | Error::Device(DeviceError::DTypeUnsupported { .. })
        | Error::Device(DeviceError::QuantizedUnsupported { .. })
        | Error::Device(DeviceError::ActivationsUnsupported { .. })
        | Error::Device(DeviceError::AdaptersUnsupported)
        | Error::Request(RequestError::AdapterForeign)
        | Error::Request(RequestError::AdapterUnknown { .. })
        | Error::Load(LoadError::NotAnAdapter { .. })
        | Error::Load(LoadError::Adapter { .. })
        | Error::Load(LoadError::Write { .. })
        | Error::Load(LoadError::NothingQuantized)
        | Error::Load(LoadError::NothingInBf16)
        | Error::Device(DeviceError::KvFormatUnsupported { .. })
        | Error::Request(RequestError::DraftVocabulary { .. })
        | Error::Load(LoadError::Io { .. })
        | Error::Load(LoadError::NotAModel { .. })
        | Error::Load(LoadError::Json { .. })
        | Error::Load(LoadError::Unsupported { .. })
        | Error::Load(LoadError::Safetensors { .. })
        | Error::Load(LoadError::TensorOffsets { .. })
        | Error::Load(LoadError::TensorTwice { .. })
        | Error::Load(LoadError::ShardOutside { .. })
        | Error::Load(LoadError::ShardMissing { .. })
        | Error::Load(LoadError::ShardLacks { .. })
        | Error::Load(LoadError::TensorMissing { .. })
        | Error::Load(LoadError::TensorShape { .. })
        | Error::Load(LoadError::TensorDType { .. })
        | Error::Load(LoadError::QuantizedTensor { .. })
        | Error::Load(LoadError::Gguf { .. })
        | Error::Load(LoadError::GgufVersion { .. })
        | Error::Load(LoadError::GgufTensor { .. })
        | Error::Load(LoadError::GgufType { .. })
        | Error::Load(LoadError::GgufPartMissing { .. })
        | Error::Load(LoadError::GgufPartForeign { .. })
        | Error::Load(LoadError::SeveralGguf { .. })
        | Error::Load(LoadError::Metadata { .. })
        | Error::Load(LoadError::Tokenizer { .. })
        | Error::Load(LoadError::TokenizerTooLarge { .. })
        | Error::Load(LoadError::TokenizerTooMany { .. })
        | Error::Request(RequestError::NoChatTemplate)
        | Error::Request(RequestError::ChatTemplate { .. })
        | Error::Request(RequestError::CacheFull { .. })
        | Error::Request(RequestError::CacheTooLarge { .. })
        | Error::Service(ServiceError::KvPoolFull { .. })
        | Error::Request(RequestError::KvPoolTooSmall { .. })
        | Error::Load(LoadError::WeightsTooLarge { .. })
        | Error::Device(DeviceError::Logits { .. })
        | Error::Device(DeviceError::HiddenStates)
        | Error::Request(RequestError::Scores { .. })
        | Error::Request(RequestError::Grammar { .. })
        | Error::Request(RequestError::GrammarTooLarge { .. })
        | Error::Request(RequestError::GrammarNotCompiled { .. })
        | Error::Request(RequestError::HealingByParser)
        | Error::Request(RequestError::GrammarEmpty)
        | Error::Request(RequestError::GrammarUnspellable)
        | Error::Request(RequestError::GrammarCancelled)
        | Error::Request(RequestError::NoTokenFits { .. })
        | Error::Request(RequestError::OutsideGrammar { .. })
        | Error::Request(RequestError::ConstraintVocabulary { .. })
        | Error::Device(DeviceError::Failed(_))
        | Error::Service(ServiceError::Panicked { .. })
        | Error::Service(ServiceError::Handler(_))
        | Error::Service(ServiceError::NothingStarted)
        | Error::Service(ServiceError::HandlerReturned)
        | Error::Service(ServiceError::WaitInModelThread)
        | Error::Service(ServiceError::ShutDown)
        | Error::Service(ServiceError::QueueFull { .. })
        | Error::Service(ServiceError::Threads { .. })
        | Error::Service(ServiceError::Thread(_)) => true,
    }
}

/// As a person meets them: with what a file, a request or the system would say.
#[test]
fn every_message_is_in_words() {
    let of_system = io::Error::from_raw_os_error(20).to_string();
    let of_json = serde_json::from_str::<Vec<u32>>("[-1]").unwrap_err();
    let texts = ["model.safetensors", &of_system];
    let mut messages: Vec<String> = every_error(texts[0]).iter().map(Error::to_string).collect();
    for error in every_error(texts[1]) {
        if let Error::Device(
            DeviceError::Missing { .. } | DeviceError::Unreachable { .. } | DeviceError::Failed(_),
        )
        | Error::Service(ServiceError::Thread(_) | ServiceError::Threads { .. }) = error
        {
            messages.push(error.to_string());
        }
    }
    let source = io::Error::from_raw_os_error(20);
    messages.push(LoadError::Io { path: "model.safetensors".into(), source }.to_string());
    messages
        .push(LoadError::Json { origin: "config.json".to_owned(), source: of_json }.to_string());
    assert_in_words(&messages);
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
