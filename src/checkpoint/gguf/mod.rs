//! The GGUF format of llama.cpp: hyperparameters, tokenizer and weights in one file.
//!
//! ```text
//! 4 bytes        "GGUF"
//! u32            the version of the format
//! u64, u64       the number of tensors, and of metadata entries
//! metadata       for each entry: key, type, value
//! tensors        for each tensor: name, shape, type, offset in the data
//! padding        up to a multiple of `general.alignment`
//! the data       the numbers of all tensors, each at a multiple of `general.alignment`
//! ```
//!
//! All of it is little-endian. [`GgufFile`] parses the header; the data is read by ranges, on
//! demand. Weights may be quantized: [`BlockType`] takes their blocks apart.

mod blocks;
mod config;
mod cursor;
mod file;
mod metadata;
mod names;
mod tensor;
mod tensor_type;
mod tokenizer;
mod weights;

pub(crate) use file::GgufFile;
pub(crate) use tensor::StoredTensor;
pub(crate) use weights::GgufWeights;
