//! The reference answers to the exercises of *Slow Burn*: read one after you have solved its
//! exercise. Each says why it is written so, what it costs, and which wrong turn is common.

pub mod batching;
pub mod beyond;
pub mod constrained;
pub mod gpus;
pub mod greedy;
pub mod guess_ahead;
pub mod kernels;
pub mod kv_cache;
pub mod model;
pub mod naive_loop;
pub mod other_models;
pub mod paged_kv;
pub mod quantized;
pub mod scheduler;
pub mod server;
pub mod streaming;
pub mod temperature;
pub mod tokens;
pub mod top_k;
pub mod top_p;
