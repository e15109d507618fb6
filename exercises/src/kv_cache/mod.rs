//! 05 The KV cache
