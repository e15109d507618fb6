//! The bytes of a KV cache, and how many sequences fit next to the weights.

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

/// A cache buys speed with memory. How much memory? Return the bytes of the keys and values of
/// `batch` sequences with `positions` places each, in all layers.
///
/// `batch` and `positions` are at least 1.
///
/// **Limits**, for when that passes: `None` if the number is too large for a `u64`. The result must
/// not wrap around, and nothing may panic.
///
/// ```text
/// 5 layers, 4 query heads, 2 key/value heads of 48, f32:
/// cache_bytes(&model, 1, 1) -> Some(3840)
/// cache_bytes(&model, 1, 9) -> Some(34560)
/// ```
pub fn cache_bytes(model: &ModelSize, batch: u64, positions: u64) -> Option<u64> {
    todo!()
}

/// Now turn the question around: how many sequences with `positions` places each fit into `memory`
/// bytes, next to the weights?
///
/// The weights are there once, for all sequences. Return 0 if not even the weights fit.
///
/// **Limits**: 0, too, if one sequence is too large to be counted in a `u64`.
///
/// ```text
/// the same model with 1000 bytes of weights:
/// sequences_that_fit(&model, 1, 8680) -> 2      (1000 + 2 * 3840 = 8680)
/// sequences_that_fit(&model, 1, 8679) -> 1
/// sequences_that_fit(&model, 1, 999)  -> 0
/// ```
pub fn sequences_that_fit(model: &ModelSize, positions: u64, memory: u64) -> u64 {
    todo!()
}
