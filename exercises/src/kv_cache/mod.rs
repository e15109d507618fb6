//! 05 The KV cache

mod cache_bytes;

#[path = "../../suite/kv_cache/cache_bytes.rs"]
mod cache_bytes_tests;

mod cache_append;

#[path = "../../suite/kv_cache/cache_append.rs"]
mod cache_append_tests;

mod attend_to_cache;

#[path = "../../suite/kv_cache/attend_to_cache.rs"]
mod attend_to_cache_tests;

mod chunked_prefill;

#[path = "../../suite/kv_cache/chunked_prefill.rs"]
mod chunked_prefill_tests;

mod decode_positions;

#[path = "../../suite/kv_cache/decode_positions.rs"]
mod decode_positions_tests;
