//! The exercises of *Slow Burn*. Every chapter is a folder, every exercise a file in it.
//!
//! `cargo run -p exercises` shows what is next. README.md, one folder up, says more.

#![allow(
    unused,
    clippy::all,
    reason = "a stub uses nothing yet, and a first attempt should meet its tests before it meets clippy"
)]

mod batching;
mod beyond;
mod constrained;
mod gpus;
mod greedy;
mod guess_ahead;
mod kernels;
mod kv_cache;
mod model;
mod naive_loop;
mod other_models;
mod paged_kv;
mod quantized;
mod scheduler;
mod server;
mod states;
mod streaming;
mod temperature;
mod tokens;
mod top_k;
mod top_p;

#[path = "../suite/support/mod.rs"]
mod support;
