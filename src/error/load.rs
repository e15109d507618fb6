//! Errors of loading a model.

use std::path::PathBuf;

use crate::outside::{in_words, json_in_words, quoted, short};

/// Why a model was not loaded: a file is missing or damaged, describes something unsupported, or doesn't fit
/// into memory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    #[error(
        "activations in int8 are for weights in int8, int4, mxfp4 or nvfp4, and no weight of this model is stored so: quantize them, or leave the activations in f32"
    )]
    NothingQuantized,

    #[error(
        "activations in bf16 are for weights in bf16, and no matrix of this model is stored so: load it in bf16, or leave the activations in f32"
    )]
    NothingInBf16,

    #[error("cannot read {path}: {source}", path = quoted(.path), source = in_words(.source))]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },

    #[error("cannot write {path}: {source}", path = quoted(.path), source = in_words(.source))]
    Write {
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
        "{folder} is not the folder of an adapter: it holds no {missing} (expected adapter_config.json and adapter_model.safetensors, as PEFT writes them)",
        folder = quoted(.folder)
    )]
    NotAnAdapter {
        folder: PathBuf,
        missing: &'static str,
    },

    #[error(
        "{origin} {problem}: take an adapter that was trained for this model, of its linear layers alone",
        origin = short(.origin), problem = short(.problem)
    )]
    Adapter { origin: String, problem: String },

    #[error(
        "{origin} is not the JSON that was expected: {source}",
        origin = short(.origin), source = short(json_in_words(.source))
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
        "{origin}: tensor {tensor} lies in {other} too, but a checkpoint holds it once: remove one of the two files",
        origin = short(.origin), tensor = quoted(.tensor), other = short(.other)
    )]
    TensorTwice {
        origin: String,
        tensor: String,
        other: String,
    },

    #[error(
        "{origin} puts tensor {tensor} into {shard}, which is not the name of a file in the same folder: fetch the model again",
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
        "{origin} puts tensor {tensor} into {shard}, but that file does not hold it: fetch all files of the model again",
        origin = short(.origin), tensor = quoted(.tensor), shard = quoted(.shard)
    )]
    ShardLacks {
        origin: String,
        tensor: String,
        shard: String,
    },

    #[error(
        "{origin}: tensor `{tensor}` is missing: the files are not those of this configuration, or not all of them",
        origin = short(.origin), tensor = short(.tensor)
    )]
    TensorMissing { origin: String, tensor: String },

    #[error(
        "{origin}: tensor `{tensor}` has shape {found}, but the configuration asks for {expected}: the two do not belong together",
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
        "{origin}: tensor {tensor} {problem}: it does not fit what `quantization_config` says; take another file",
        origin = short(.origin), tensor = quoted(.tensor), problem = short(.problem)
    )]
    QuantizedTensor {
        origin: String,
        tensor: String,
        problem: String,
    },

    #[error(
        "{origin}: tensor `{tensor}` is stored as {found}, but only F32, F16 and BF16 are read: take the model in one of these types, or as a GGUF file",
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
        "{origin}: tensor {tensor} is stored as {found}, but only F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K to Q6_K, IQ4_NL, IQ4_XS and MXFP4 are read: take a file in one of these types",
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
        origin = short(.origin), message = short(json_in_words(.message))
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
        "{origin}: the weights take {bytes} bytes, more memory than this machine, or a limit of this process, has left: end other programs, store them in a smaller type, or take a smaller model",
        origin = short(.origin)
    )]
    WeightsTooLarge { origin: String, bytes: u128 },
}
