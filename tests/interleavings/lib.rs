//! The threads of `slowburn::inference` under a model checker: shuttle runs a test again and again,
//! and each time lets the threads take turns in another order. A thread can lose its turn wherever
//! it locks, waits, sends, receives or touches an atomic. When every thread waits for another, the
//! test fails, and says in which order the threads ran.
//!
//! Compiled here as they are: `inference` with its model thread, the running batch, the engine, the
//! scheduler with its blocks, and the sampler. Replaced are the model (its logits are all 0, see
//! [`model`]) and the tokenizer, neither of which any two threads share, and `crate::sync`, which
//! here has the locks, channels and threads of shuttle.
//!
//! Not modelled:
//! - Deadlines. Shuttle has no clock: `recv_timeout` waits for ever.
//! - Weak memory. Every atomic operation is sequentially consistent here, whatever its `Ordering`.
//!   Those in `inference` are `Relaxed` and guard no other memory: whatever else another thread must
//!   see goes through a channel or a lock.
//! - `Arc`, which is that of the standard library.
//! - The turns of a pool, whose locks are those of the standard library: one engine has it alone.
//! - The threads of the kernels, which no thread of `inference` waits for outside a step.
#![allow(dead_code)] // the library has callers for all of it

#[path = "../../src/constrained/mod.rs"]
pub mod constrained;
pub mod engine;
#[path = "../../src/error/mod.rs"]
pub mod error;
pub mod generate;
#[path = "../../src/grammar/mod.rs"]
pub mod grammar;
#[path = "../../src/inference/mod.rs"]
pub mod inference;
mod kernels {
    /// The positions of a block.
    pub(crate) const BLOCK: usize = 32;
}
pub mod kv;
pub mod model;
#[path = "../../src/outside.rs"]
mod outside;
#[path = "../../src/panics.rs"]
mod panics;
pub mod pretrained;
#[path = "../../src/sampling/mod.rs"]
pub mod sampling;
pub mod speculation;
mod sync;
pub mod tokenizer;

pub use error::{Error, Result, ServiceError};
