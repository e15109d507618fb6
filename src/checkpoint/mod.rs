//! Reads model folders in the format of Hugging Face, and GGUF files.
//!
//! [`config`] reads the hyperparameters. [`safetensors`] parses files of weights, `Shards` opens
//! those of a folder, `gguf` reads models that are one file or parts of one, and [`Weights`] supplies the tensors
//! to a network, converted and packed for its device.

pub mod config;
mod convert;
pub(crate) mod folder;
pub mod gguf;
mod open_file;
mod precision;
pub mod safetensors;
pub(crate) mod shards;
mod weight_file;
mod weights;

pub(crate) use config::GenerationConfig;
pub use open_file::{Reading, reading};
pub(crate) use shards::Shards;
pub use weights::Weights;
