//! 05 The KV cache

pub mod attend_to_cache;
pub mod cache_append;
pub mod cache_bytes;
pub mod chunked_prefill;
pub mod decode_positions;
