//! 05 The KV cache

pub mod cache_bytes;

#[cfg(test)]
#[path = "../../../exercises/suite/kv_cache/cache_bytes.rs"]
mod cache_bytes_tests;

pub mod cache_append;

#[cfg(test)]
#[path = "../../../exercises/suite/kv_cache/cache_append.rs"]
mod cache_append_tests;

pub mod attend_to_cache;

#[cfg(test)]
#[path = "../../../exercises/suite/kv_cache/attend_to_cache.rs"]
mod attend_to_cache_tests;

pub mod chunked_prefill;

#[cfg(test)]
#[path = "../../../exercises/suite/kv_cache/chunked_prefill.rs"]
mod chunked_prefill_tests;

pub mod decode_positions;

#[cfg(test)]
#[path = "../../../exercises/suite/kv_cache/decode_positions.rs"]
mod decode_positions_tests;
