//! The library's errors: each says what is wrong, what is expected and what to do. Charts,
//! downloads and the command line have their own error types.

use std::path::PathBuf;

use crate::outside::{quoted, short};

/// An error of loading a model or of serving a request.
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

    #[error(
        "the prompt has {bytes} bytes, more than the model's context length of {context} tokens can hold, as no token has more than {longest} bytes: shorten the prompt"
    )]
    TextTooLong {
        bytes: usize,
        context: usize,
        longest: usize,
    },

    #[error(
        "to find the tokens of a text of {bytes} bytes takes about {memory} bytes, more memory than is left: shorten the text"
    )]
    TextTooLarge { bytes: usize, memory: u128 },

    #[error("token id {id} is outside the vocabulary: ids go from 0 to {}", vocab_size - 1)]
    TokenOutOfRange { id: u32, vocab_size: usize },

    #[error(
        "the draft model has a vocabulary of {draft} tokens, and the model one of {target}: give a draft model with the model's tokenizer"
    )]
    DraftVocabulary { draft: usize, target: usize },

    #[error("{name} is {value}, but must be {allowed}", value = short(.value))]
    Parameter {
        name: &'static str,
        value: String,
        allowed: &'static str,
    },

    #[error(
        "device `{name}` cannot compute with quantized weights: take the CPU, or leave the weights unquantized"
    )]
    QuantizedUnsupported { name: &'static str },

    #[error(
        "activations in int8 are for quantized weights, and no weight of this model is quantized"
    )]
    NothingQuantized,

    #[error(
        "keys and values in {format} are for the CPU: other devices store them in the type that they compute in"
    )]
    KvFormatUnsupported { format: &'static str },

    #[error("device `{name}` is not compiled in: build with the feature `{feature}`")]
    DeviceNotCompiled {
        name: &'static str,
        feature: &'static str,
    },

    #[error(
        "device `{name}` is compiled in but does not work on this machine ({reason}): check its driver, or take another device",
        reason = short(.reason)
    )]
    DeviceMissing { name: &'static str, reason: String },

    #[error("device `{name}` cannot compute in {dtype}: take f32")]
    DTypeUnsupported {
        name: &'static str,
        dtype: &'static str,
    },

    #[error("cannot read {path}: {source}", path = quoted(.path), source = short(.source))]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },

    #[error(
        "{folder} is not a model folder: it holds no {missing} (expected config.json, model.safetensors and tokenizer.json, as Hugging Face publishes them, or a GGUF model)",
        folder = quoted(.folder)
    )]
    NotAModel {
        folder: PathBuf,
        missing: &'static str,
    },

    #[error(
        "{origin} is not the JSON that was expected: {source}",
        origin = short(.origin), source = short(.source)
    )]
    Json {
        origin: String,
        source: serde_json::Error,
    },

    #[error(
        "{origin}: `{field}` is {value}, but only {supported} is supported",
        origin = short(.origin), value = short(.value)
    )]
    Unsupported {
        origin: String,
        field: &'static str,
        value: String,
        supported: &'static str,
    },

    #[error(
        "{origin} is not a whole safetensors file ({problem}): it may be truncated, fetch it again",
        origin = short(.origin), problem = short(.problem)
    )]
    Safetensors { origin: String, problem: String },

    #[error(
        "{origin} is not a whole safetensors file (tensor {tensor} {problem}): it may be truncated, fetch it again",
        origin = short(.origin), tensor = quoted(.tensor), problem = short(.problem)
    )]
    TensorOffsets {
        origin: String,
        tensor: String,
        problem: String,
    },

    #[error(
        "{origin}: tensor {tensor} lies in {other} too, but a checkpoint holds it once",
        origin = short(.origin), tensor = quoted(.tensor), other = short(.other)
    )]
    TensorTwice {
        origin: String,
        tensor: String,
        other: String,
    },

    #[error(
        "{origin} puts tensor {tensor} into {shard}, which is not the name of a file in the same folder",
        origin = short(.origin), tensor = quoted(.tensor), shard = quoted(.shard)
    )]
    ShardOutside {
        origin: String,
        tensor: String,
        shard: String,
    },

    #[error(
        "{origin} puts tensor {tensor} into {shard}, but there is no such file: fetch all files of the model",
        origin = short(.origin), tensor = quoted(.tensor), shard = quoted(.shard)
    )]
    ShardMissing {
        origin: String,
        tensor: String,
        shard: String,
    },

    #[error(
        "{origin} puts tensor {tensor} into {shard}, but that file does not hold it",
        origin = short(.origin), tensor = quoted(.tensor), shard = quoted(.shard)
    )]
    ShardLacks {
        origin: String,
        tensor: String,
        shard: String,
    },

    #[error(
        "{origin}: tensor `{tensor}` is missing",
        origin = short(.origin), tensor = short(.tensor)
    )]
    TensorMissing { origin: String, tensor: String },

    #[error(
        "{origin}: tensor `{tensor}` has shape {found}, but the configuration asks for {expected}",
        origin = short(.origin),
        tensor = short(.tensor),
        found = quoted(.found),
        expected = quoted(.expected)
    )]
    TensorShape {
        origin: String,
        tensor: String,
        found: Vec<usize>,
        expected: Vec<usize>,
    },

    #[error(
        "{origin}: tensor `{tensor}` is stored as {found}, but only F32, F16 and BF16 are read",
        origin = short(.origin), tensor = short(.tensor), found = quoted(.found)
    )]
    TensorDType {
        origin: String,
        tensor: String,
        found: String,
    },

    #[error(
        "{origin} is not a whole GGUF file ({problem}): it may be truncated, fetch it again",
        origin = short(.origin), problem = short(.problem)
    )]
    Gguf { origin: String, problem: String },

    #[error(
        "{origin} is a GGUF file of version {found}, but only versions 2 and 3, little-endian, are read: convert the model again",
        origin = short(.origin), found = short(.found)
    )]
    GgufVersion { origin: String, found: String },

    #[error(
        "{origin}: tensor {tensor} {problem}: the file may be damaged, fetch it again",
        origin = short(.origin), tensor = quoted(.tensor), problem = short(.problem)
    )]
    GgufTensor {
        origin: String,
        tensor: String,
        problem: String,
    },

    #[error(
        "{origin}: tensor {tensor} is stored as {found}, but only F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K and Q6_K are read: take a file in one of these types",
        origin = short(.origin), tensor = quoted(.tensor), found = short(.found)
    )]
    GgufType {
        origin: String,
        tensor: String,
        found: String,
    },

    #[error(
        "{origin} is one of {count} files that a model was split into, but {missing} is not there: fetch all of them into one folder",
        origin = short(.origin), missing = quoted(.missing)
    )]
    GgufPartMissing {
        origin: String,
        count: usize,
        missing: PathBuf,
    },

    #[error(
        "{origin} is not a part of the same model as {beside} ({problem}): fetch all files of one model into a folder of their own",
        origin = short(.origin), beside = short(.beside), problem = short(.problem)
    )]
    GgufPartForeign {
        origin: String,
        beside: String,
        problem: String,
    },

    #[error(
        "{folder} has several GGUF models ({}): give the file of one",
        short(names.join(", ")),
        folder = quoted(.folder)
    )]
    SeveralGguf { folder: PathBuf, names: Vec<String> },

    #[error(
        "{origin}: the metadata key `{key}` {problem}",
        origin = short(.origin), key = short(.key), problem = short(.problem)
    )]
    Metadata {
        origin: String,
        key: String,
        problem: String,
    },

    #[error(
        "{origin} is not a tokenizer that can be used: {message}",
        origin = short(.origin), message = short(.message)
    )]
    Tokenizer { origin: String, message: String },

    #[error(
        "{origin} has token id {id}, but the model's vocabulary ends at {}: the two do not belong together",
        vocab_size - 1, origin = short(.origin)
    )]
    TokenizerTooLarge {
        origin: String,
        id: u32,
        vocab_size: usize,
    },

    #[error(
        "{origin} has {tokens} tokens, but the model's vocabulary has {vocab_size}: the two do not belong together",
        origin = short(.origin)
    )]
    TokenizerTooMany {
        origin: String,
        tokens: usize,
        vocab_size: usize,
    },

    #[error(
        "this model can't use a KV cache: Burn's TransformerEncoder makes its keys and values for a whole sequence and keeps them to itself; use the naive loop"
    )]
    NoKvCache,

    #[error(
        "this model has no chat template: it goes on from a text and answers no messages; take a model that was trained for chat"
    )]
    NoChatTemplate,

    #[error(
        "{origin}: the chat template cannot write this conversation: {message}; change the messages",
        origin = short(.origin), message = short(.message)
    )]
    ChatTemplate { origin: String, message: String },

    #[error(
        "the KV cache holds {capacity} tokens: {length} are in it and {new} more do not fit; make a larger cache or stop here"
    )]
    CacheFull {
        capacity: usize,
        length: usize,
        new: usize,
    },

    #[error(
        "a KV cache for {tokens} tokens of this model takes {bytes} bytes, more memory than this machine has left: ask for fewer new tokens, or take a smaller model"
    )]
    CacheTooLarge { tokens: usize, bytes: u128 },

    #[error(
        "the KV caches may take {budget} bytes, of which {in_use} are in use, and {needed} more are needed: allow them more memory, or generate fewer tokens or fewer sequences at once"
    )]
    KvPoolFull {
        budget: usize,
        in_use: usize,
        needed: usize,
    },

    #[error(
        "a sequence may grow to {tokens} tokens, but the KV caches have room for {capacity}: allow them more memory, ask for fewer new tokens, or shorten the prompt"
    )]
    KvPoolTooSmall { tokens: usize, capacity: usize },

    #[error(
        "{origin}: the weights take {bytes} bytes, more memory than this machine, or a limit of this process, has left: end other programs, store them in a smaller type, or take a smaller model",
        origin = short(.origin)
    )]
    WeightsTooLarge { origin: String, bytes: u128 },

    #[error("the logits of step {step} are unusable: {problem}; the weights may be damaged")]
    Logits { step: usize, problem: &'static str },

    #[error(
        "the hidden states of the text are unusable: they are not finite, or all are 0; the weights may be damaged"
    )]
    HiddenStates,

    #[error(
        "the scores of step {step} are unusable after {rule}: {problem}; a rule must leave at least one finite score, and -inf for what it removes: make it weaker"
    )]
    Scores {
        step: usize,
        rule: &'static str,
        problem: &'static str,
    },

    #[error("the device failed: {reason}", reason = short(.0))]
    Device(String),

    #[error(
        "{what} panicked ({message}): what it was working for has ended, nothing else has",
        message = short(.message)
    )]
    Panicked { what: &'static str, message: String },

    #[error("the handler failed: {reason}", reason = short(.0))]
    Handler(#[source] Box<dyn std::error::Error + Send + Sync>),

    #[error(
        "the handler returned without a sequence: `start` what `prepare` returns, before the handler ends"
    )]
    NothingStarted,

    #[error("the handler has returned: it can start a sequence only while it runs")]
    HandlerReturned,

    #[error(
        "the model's thread cannot wait for a model: wait in another thread, or in the handler before `start`"
    )]
    WaitInModelThread,

    #[error(
        "the queue is full: {waiting} sequences wait for their turn, and {new} more would be over the limit of {max_waiting}; try again when some have ended, or raise `with_max_waiting`"
    )]
    QueueFull {
        max_waiting: usize,
        waiting: usize,
        new: usize,
    },

    #[error("the inference was shut down: build another one")]
    ShutDown,

    #[error("cannot start the thread of the model: {reason}", reason = short(.0))]
    Thread(std::io::Error),

    #[error(
        "cannot start the threads that compute: {reason}; end other programs, or raise the limit on processes (`ulimit -u`, or that of the container)",
        reason = short(.reason)
    )]
    Threads { reason: String },
}

/// `std::result::Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

// An explicit path, because the exercises include this file from elsewhere.
#[cfg(test)]
#[path = "error/tests.rs"]
mod tests;
