//! GGUF, llama.cpp's format: hyperparameters, tokenizer and weights in one file.
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
//! All of it is little-endian. [`GgufFile`] parses the header; the data is read on demand. Weights
//! may be quantized, in blocks of a [`BlockType`]. A large model may be split into several such
//! files.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use slowburn::{Error, LoadError};
//! use slowburn::checkpoint::gguf::{GgufFile, Value};
//!
//! let file = GgufFile::open("tests/fixtures/gguf/llama-q8_0.gguf")?;
//! if let Some(Value::Text(architecture)) = file.value("general.architecture") {
//!     println!("a model of the architecture {architecture}");
//! }
//! for (name, tensor) in file.tensors() {
//!     println!("{name}: {} {:?}", tensor.kind(), tensor.shape());
//! }
//!
//! // Quantized weights become f32.
//! let embedding = Tensor::<2>::from_data(file.data("token_embd.weight")?, &Device::default());
//! assert_eq!(embedding.dims().as_slice(), file.tensor("token_embd.weight").unwrap().shape());
//!
//! assert!(matches!(file.data("no.such.weight"), Err(Error::Load(LoadError::TensorMissing { .. }))));
//! assert!(matches!(GgufFile::open("Cargo.toml"), Err(Error::Load(LoadError::Gguf { .. }))));
//! # Ok::<(), Error>(())
//! ```
//!
//! To get a model and a tokenizer from a file, call [`Pretrained::load`](crate::pretrained::Pretrained::load).
//! [`Weights::from_gguf`](super::Weights::from_gguf) supplies its tensors to a network, under the names that a
//! Hugging Face checkpoint has for them.

mod access;
mod blocks;
mod config;
mod cursor;
mod deepseek;
mod families;
mod file;
mod folder;
mod metadata;
mod names;
mod part_name;
mod rope;
mod split;
mod tensor;
mod tensor_type;
mod tokenizer;
mod weights;

pub use blocks::BlockType;
#[cfg(feature = "hub")]
pub(crate) use config::check_architecture;
pub use file::GgufFile;
pub(crate) use folder::find_in_folder;
pub use metadata::Value;
#[cfg(feature = "hub")]
pub(crate) use part_name::PartName;
pub(crate) use tensor::StoredTensor;
pub use tensor::TensorInfo;
pub use tensor_type::TensorType;
pub(crate) use weights::GgufWeights;
