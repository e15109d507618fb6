//! The bytes of a KV cache, and how many sequences fit next to the weights.
//!
//! Why: a cache is a box with six sides, and its size is their product. Keys and values are the
//! first side, which is the 2. Query heads are not among the six: queries are not cached. All
//! sequences read the same weights, so you subtract these from the memory once, before the rest is
//! shared out.
//!
//! What it costs: six multiplications. `checked_mul` turns an overflow into `None`, while `*`
//! panics in a debug build and wraps around in a release build. A program that trusts a wrapped
//! number allocates too little memory.
//!
//! A common wrong turn: counting the query heads. The result is then too large by the size of a
//! group, and with groups of two, half of the sequences that would fit are sent away.

/// What decides how much memory a model takes. Every number is at least 1.
#[derive(Debug, Clone, Copy)]
pub struct ModelSize {
    pub n_layers: u64,
    /// Query heads.
    pub n_heads: u64,
    /// Key/value heads.
    pub n_kv_heads: u64,
    pub head_dim: u64,
    /// 4 for f32, 2 for f16.
    pub bytes_per_number: u64,
    /// The bytes of all weights together.
    pub weight_bytes: u64,
}

/// The bytes of the keys and values of `batch` sequences with `positions` places each, in all
/// layers. None if the number is too large for a `u64`.
pub fn cache_bytes(model: &ModelSize, batch: u64, positions: u64) -> Option<u64> {
    2_u64
        .checked_mul(model.n_layers)?
        .checked_mul(batch)?
        .checked_mul(model.n_kv_heads)?
        .checked_mul(positions)?
        .checked_mul(model.head_dim)?
        .checked_mul(model.bytes_per_number)
}

/// How many sequences with `positions` places each fit into `memory` bytes, next to the weights.
pub fn sequences_that_fit(model: &ModelSize, positions: u64, memory: u64) -> u64 {
    let Some(left) = memory.checked_sub(model.weight_bytes) else {
        return 0;
    };
    match cache_bytes(model, 1, positions) {
        None => 0,
        Some(each) => left / each,
    }
}
