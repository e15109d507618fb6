//! In 128 bits, which hold what a wrong answer would have lost on the way.

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
    let per_position =
        u128::from(2 * model.n_layers * model.n_kv_heads * model.head_dim * model.bytes_per_number);
    let positions = u128::from(positions) * u128::from(batch);
    u64::try_from(per_position.checked_mul(positions)?).ok()
}

pub fn sequences_that_fit(model: &ModelSize, positions: u64, memory: u64) -> u64 {
    let left = memory.saturating_sub(model.weight_bytes);
    cache_bytes(model, 1, positions).map_or(0, |each| left / each)
}
