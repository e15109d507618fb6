//! LLM inference in Rust, one token at a time: the crate behind the book.
//!
//! - [`tokenizer`]: text to token ids and back, and chat templates
//! - [`model`]: token ids to logits, with or without a KV cache
//! - [`adapter`]: small matrices that change what a model computes (LoRA)
//! - [`kv`]: the KV cache, in blocks that sequences can share
//! - [`kernels`]: the CPU kernels
//! - [`sampling`]: logits to the next token
//! - [`constrained`]: which tokens keep a text inside a grammar
//! - [`grammar`]: regular expressions and JSON schemas, compiled to what `constrained` follows
//! - [`engine`]: the scheduler, and the steps that it plans
//! - [`speculation`]: draft tokens, and what they gain
//! - [`generate`]: the generation loops
//! - `inference`: a service for concurrent requests, with one thread that owns the model (not on
//!   wasm32, which has no threads)
//! - [`checkpoint`]: loading weights from files
//! - [`pretrained`]: a model with its tokenizer, bundled with this crate or from a folder
//! - `hub` (feature `hub`): models from the Hugging Face Hub
//! - [`device`]: the backend and its precision
//! - [`storage`]: the formats of weights in memory
//! - [`error`]: what can go wrong, and [`outside`], which shortens other people's text in messages
//!
//! A first text takes a few lines:
//!
//! ```
//! # #[cfg(feature = "burn")] {
//! use slowburn::device::{self, DeviceChoice, Precision};
//! use slowburn::{Options, Pretrained};
//!
//! let device = device::open(DeviceChoice::Auto)?;
//! let ember = Pretrained::bundled(&device, Precision::F32)?;
//! let options = Options { max_tokens: 8, ..Options::default() };
//! println!("{}", ember.generate("Once upon a time", &options)?);
//! # }
//! # Ok::<(), slowburn::Error>(())
//! ```
//!
//! # Which of the three do you need?
//!
//! - One text at a time: [`Pretrained::generate`], or [`Pretrained::stream`] to see it as it is written.
//! - Several at once, in your own loop: [`generate::Batch`], which you drive step by step.
//! - Requests from many threads, with streams, stop strings, deadlines and metrics: `inference`.
//!
//! You can move from one to the next without a change in what you get: on the CPU, a request's logits are
//! bit-identical with all three, whatever runs next to it, with any number of threads and on any processor with
//! a fused multiply-add. The book explains how, in the repository's folder `book` (`mdbook serve book`).
//!
//! # Features
//!
//! - `flex` (by default): the CPU, with this crate's kernels
//! - `cuda`, `rocm`, `metal`, `vulkan` and `wgpu`: GPUs, through Burn's backends, with this crate's kernels
//!   for what Burn lacks; `cube-cpu`: the GPU kernels on the CPU; `ndarray`: Burn's older CPU backend
//! - `hub`: models from the Hugging Face Hub
//! - `schema`: JSON schemas and Lark grammars for constrained output
//! - `async`: a job's stream of tokens is a `futures::Stream` too
//!
//! Features only add. Turn off the devices and `hub`, and Burn is gone: what remains is the engine without its
//! arithmetic. A [`model::Model`] is then always a [`stub`](model::Model::stub), a network that you bring. With
//! `text` you still have the tokenizer, the generation loops and `inference`; with no feature at all you have
//! samplers, constraints, the scheduler and its blocks, and a build takes seconds.

mod activation;
pub mod adapter;
#[cfg(feature = "burn")]
mod burn_threads;
#[cfg(feature = "burn")]
pub mod checkpoint;
pub mod constrained;
#[cfg(feature = "cube")]
mod cube;
#[cfg(feature = "burn")]
pub mod device;
pub mod engine;
pub mod error;
#[cfg(feature = "burn")]
mod files;
#[cfg(feature = "text")]
pub mod generate;
#[cfg(feature = "text")]
pub mod grammar;
#[cfg(feature = "hub")]
pub mod hub;
#[cfg(all(feature = "text", not(target_arch = "wasm32")))]
pub mod inference;
#[cfg(feature = "burn")]
pub mod kernels;
pub mod kv;
#[cfg(feature = "text")]
mod memory;
pub mod model;
pub mod outside;
mod panics;
#[cfg(feature = "text")]
pub mod pretrained;
#[cfg(feature = "text")]
mod priority;
pub mod sampling;
#[cfg(feature = "text")]
pub mod speculation;
#[cfg(feature = "burn")]
pub mod storage;
#[cfg(all(feature = "text", not(target_arch = "wasm32")))]
mod sync;
#[cfg(feature = "text")]
pub mod tokenizer;

pub use error::{DeviceError, Error, LoadError, RequestError, Result, ServiceError};
#[cfg(feature = "text")]
pub use generate::Options;
#[cfg(feature = "text")]
pub use model::Model;
#[cfg(feature = "text")]
pub use pretrained::Pretrained;
pub use sampling::SamplingParams;
#[cfg(feature = "text")]
pub use tokenizer::Tokenizer;
