//! Reads model folders in the format of Hugging Face.
//!
//! [`config`] reads the hyperparameters. [`safetensors`] parses files of weights, `Shards` opens
//! those of a folder, and [`Weights`] supplies their tensors to a network, converted and packed for
//! its device.

pub mod config;
mod convert;
pub(crate) mod folder;
pub mod safetensors;
mod shards;
mod weights;

pub(crate) use config::GenerationConfig;
pub(crate) use shards::Shards;
pub use weights::Weights;
