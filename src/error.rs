//! One error type for the whole crate. Each message says what was wrong, what was expected and what to do.

use std::path::PathBuf;

/// What can go wrong between a command line and a story.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(
        "the prompt is empty and this model has no begin-of-sequence token to start from: give a prompt of at least one token"
    )]
    EmptyPrompt,

    #[error(
        "the prompt has {prompt} tokens but the model's context length is {context}: shorten the prompt by {} tokens",
        prompt - context
    )]
    PromptTooLong { prompt: usize, context: usize },

    #[error("token id {id} is outside the vocabulary: ids go from 0 to {}", vocab_size - 1)]
    TokenOutOfRange { id: u32, vocab_size: usize },

    #[error("{name} is {value}, but must be {allowed}")]
    Parameter {
        name: &'static str,
        value: String,
        allowed: &'static str,
    },

    #[error("device `{name}` is not compiled in: add `--features {feature}` to the cargo command")]
    DeviceNotCompiled {
        name: &'static str,
        feature: &'static str,
    },

    #[error(
        "device `{name}` is compiled in but does not work on this machine ({reason}): check its driver, or use `--device auto`"
    )]
    DeviceMissing { name: &'static str, reason: String },

    #[error("device `{name}` cannot compute in {dtype}: use `--dtype f32`")]
    DTypeUnsupported {
        name: &'static str,
        dtype: &'static str,
    },

    #[error("cannot read {path:?}: {source}")]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },

    #[error(
        "{folder:?} is not a model folder: it holds no {missing} (expected config.json, model.safetensors and tokenizer.json, as Hugging Face publishes them)"
    )]
    NotAModel {
        folder: PathBuf,
        missing: &'static str,
    },

    #[error("{origin} is not the JSON that was expected: {source}")]
    Json {
        origin: String,
        source: serde_json::Error,
    },

    #[error("{origin}: `{field}` is {value}, but only {supported} is supported")]
    Unsupported {
        origin: String,
        field: &'static str,
        value: String,
        supported: &'static str,
    },

    #[error(
        "{origin} is not a whole safetensors file ({source}): it may be truncated, fetch it again"
    )]
    Safetensors {
        origin: String,
        source: safetensors::SafeTensorError,
    },

    #[error("{origin}: tensor `{tensor}` is missing")]
    TensorMissing { origin: String, tensor: String },

    #[error(
        "{origin}: tensor `{tensor}` has shape {found:?}, but the configuration asks for {expected:?}"
    )]
    TensorShape {
        origin: String,
        tensor: String,
        found: Vec<usize>,
        expected: Vec<usize>,
    },

    #[error(
        "{origin}: tensor `{tensor}` is stored as {found}, but only F32, F16 and BF16 are read"
    )]
    TensorDType {
        origin: String,
        tensor: String,
        found: String,
    },

    #[error("{origin} is not a tokenizer that can be used: {message}")]
    Tokenizer { origin: String, message: String },

    #[error(
        "this model has no chat template: it goes on from a text and answers no messages; leave out `--chat`, or take a model that was trained for chat"
    )]
    NoChatTemplate,

    #[error(
        "{origin}: the chat template cannot write this conversation: {message}; change the messages, or leave out `--chat`"
    )]
    ChatTemplate { origin: String, message: String },

    #[error(
        "`hf:{name}` is on the Hugging Face Hub, which this program was built without: add `--features hub` to the cargo command, or give a folder"
    )]
    HubNotCompiled { name: String },

    #[error(
        "cannot reach {endpoint} ({reason}), and `{model}` is not whole in {cache:?}: connect to the network, or give the folder of a model"
    )]
    HubOffline {
        endpoint: String,
        model: String,
        cache: PathBuf,
        reason: String,
    },

    #[error(
        "{endpoint} has no model `{model}`, or does not show it: check the name and the revision; for a private model, set HF_TOKEN to an access token"
    )]
    HubNotFound { endpoint: String, model: String },

    #[error(
        "`{model}` is given only to those who were granted access: ask for it at {endpoint}/{name}, then set HF_TOKEN to an access token of that account",
        name = model.split('@').next().unwrap_or_default()
    )]
    HubGated { endpoint: String, model: String },

    #[error(
        "fetching {file} of `{model}` failed: {reason}; run the command again, it goes on where it stopped"
    )]
    HubDownload {
        model: String,
        file: String,
        reason: String,
    },

    #[error(
        "the KV cache holds {capacity} tokens: {length} are in it and {new} more do not fit; make a larger cache or stop here"
    )]
    CacheFull {
        capacity: usize,
        length: usize,
        new: usize,
    },

    #[error("the logits of step {step} are unusable: {problem}; the weights may be damaged")]
    Logits { step: usize, problem: &'static str },

    #[error("the device failed while reading a result: {0}")]
    Device(String),

    #[error("cannot write the output: {0}")]
    Output(std::io::Error),
}

impl Error {
    /// The exit code for a command: 2 when what was typed was wrong, 1 for everything else.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::EmptyPrompt
            | Error::PromptTooLong { .. }
            | Error::TokenOutOfRange { .. }
            | Error::Parameter { .. }
            | Error::NoChatTemplate
            | Error::HubNotCompiled { .. }
            | Error::DeviceNotCompiled { .. }
            | Error::DTypeUnsupported { .. } => 2,
            _ => 1,
        }
    }
}

/// `std::result::Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
