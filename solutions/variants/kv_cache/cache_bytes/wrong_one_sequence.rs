//! The batch is forgotten: all sequences share one cache.

#[derive(Debug, Clone, Copy)]
pub struct ModelSize {
    pub n_layers: u64,
    pub n_heads: u64,
    pub n_kv_heads: u64,
    pub head_dim: u64,
    pub bytes_per_number: u64,
    pub weight_bytes: u64,
}

pub fn cache_bytes(model: &ModelSize, batch: u64, positions: u64) -> Option<u64> {
    let sides = [
        2,
        model.n_layers,
        model.n_kv_heads,
        positions,
        model.head_dim,
        model.bytes_per_number,
    ];
    sides.into_iter().try_fold(1_u64, u64::checked_mul)
}

pub fn sequences_that_fit(model: &ModelSize, positions: u64, memory: u64) -> u64 {
    let left = memory.saturating_sub(model.weight_bytes);
    cache_bytes(model, 1, positions).map_or(0, |each| left / each)
}
