//! 05 The KV cache. Those with tensors are in `tensors.rs`.

mod cache_bytes;

#[path = "../../suite/kv_cache/cache_bytes.rs"]
mod cache_bytes_tests;

mod chunked_prefill;

#[path = "../../suite/kv_cache/chunked_prefill.rs"]
mod chunked_prefill_tests;

mod decode_positions;

#[path = "../../suite/kv_cache/decode_positions.rs"]
mod decode_positions_tests;
