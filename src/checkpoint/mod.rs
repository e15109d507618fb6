//! From files to weights: what a model folder holds, as Hugging Face publishes it.
//!
//! [`config`] reads the shape of a model. [`safetensors`] reads the format of weights, `Shards`
//! opens the files of a folder, and [`Weights`] hands their tensors to a network, converted and
//! packed for the device that computes.

pub mod config;
mod convert;
pub(crate) mod folder;
pub mod safetensors;
mod shards;
mod weights;

pub(crate) use config::GenerationConfig;
pub(crate) use shards::Shards;
pub use weights::Weights;
