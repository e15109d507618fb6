//! LLM inference in Rust, one token at a time: the crate behind the book.
//!
//! - [`tokenizer`]: text to token ids and back, and chat templates
//! - [`model`]: token ids to logits, with or without a KV cache
//! - [`kv`]: the KV cache, in blocks that sequences can share
//! - [`kernels`]: the CPU kernels
//! - [`sampling`]: logits to the next token
//! - [`constrained`]: which tokens keep a text inside a grammar
//! - [`grammar`]: regular expressions to what `constrained` walks
//! - [`engine`]: the scheduler, and the steps that it plans
//! - [`speculation`]: draft tokens, and what they gain
//! - [`generate`]: the generation loops
//! - `inference`: a service for concurrent requests, on one thread that owns the model (not on
//!   wasm32, which has no threads)
//! - [`checkpoint`]: loading weights from files
//! - [`pretrained`]: a model with its tokenizer, bundled with this crate or from a folder
//! - `hub` (feature `hub`): models from the Hugging Face Hub
//! - [`device`]: the backend and its precision
//! - [`storage`]: the formats of weights in memory
//! - [`error`]: what can go wrong, and [`outside`], which shortens text of others in messages
//!
//! ```
//! use slowburn::device::{self, DeviceChoice, Precision};
//! use slowburn::generate::{self, Options};
//! use slowburn::pretrained::Pretrained;
//! use std::ops::ControlFlow;
//!
//! let device = device::open(DeviceChoice::Auto)?;
//! let Pretrained { model, tokenizer, .. } = Pretrained::bundled(&device, Precision::F32)?;
//!
//! let prompt = tokenizer.encode("Once upon a time")?;
//! let options = Options { max_tokens: 8, ..Options::default() };
//! let generation = generate::cached(&model, &prompt, &options, &mut |_| ControlFlow::Continue(()))?;
//! println!("{}", tokenizer.decode(&generation.ids)?);
//! # Ok::<(), slowburn::Error>(())
//! ```
//!
//! # Features
//!
//! - `flex` (by default): the CPU, with the kernels of this crate
//! - `cuda` and `wgpu`: GPUs, by Burn's backends; `ndarray`: Burn's older CPU backend
//! - `hub`: models from the Hugging Face Hub
//! - `async`: a job's stream of tokens is a `futures::Stream` too

mod burn_threads;
pub mod checkpoint;
pub mod constrained;
pub mod device;
pub mod engine;
pub mod error;
mod files;
pub mod generate;
pub mod grammar;
#[cfg(feature = "hub")]
pub mod hub;
#[cfg(not(target_arch = "wasm32"))]
pub mod inference;
pub mod kernels;
pub mod kv;
mod memory;
pub mod model;
pub mod outside;
mod panics;
pub mod pretrained;
pub mod sampling;
pub mod speculation;
pub mod storage;
#[cfg(not(target_arch = "wasm32"))]
mod sync;
pub mod tokenizer;

pub use error::{DeviceError, Error, LoadError, RequestError, Result, ServiceError};
