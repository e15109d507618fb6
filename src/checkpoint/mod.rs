//! From files to weights: model folders as Hugging Face publishes them, and GGUF files.
//!
//! [`config`] reads the hyperparameters. [`safetensors`] parses one file of weights, and `Shards` opens all files
//! of a folder; `gguf` reads a model from one file or from the parts of one. [`Weights`] then supplies the
//! tensors to a network, converted and packed for its device.
//!
//! For a model with its tokenizer, call [`Pretrained::load`](crate::pretrained::Pretrained::load), which does it all.

mod adapter;
pub mod config;
mod convert;
pub(crate) mod folder;
pub mod gguf;
mod merge;
mod open_file;
mod precision;
mod quantization;
pub mod safetensors;
pub(crate) mod shards;
mod weight_file;
mod weights;

pub(crate) use adapter::AdapterFolder;
pub(crate) use config::GenerationConfig;
pub use merge::merge;
pub use open_file::{Reading, reading};
pub(crate) use shards::Shards;
pub use weights::Weights;
