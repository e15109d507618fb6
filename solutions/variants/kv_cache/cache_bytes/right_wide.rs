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
    let sides = [
        model.n_layers,
        model.n_kv_heads,
        model.head_dim,
        model.bytes_per_number,
        batch,
        positions,
    ];
    let bytes = sides.iter().try_fold(2_u128, |bytes, &side| bytes.checked_mul(side.into()));
    u64::try_from(bytes?).ok()
}

pub fn sequences_that_fit(model: &ModelSize, positions: u64, memory: u64) -> u64 {
    let left = memory.saturating_sub(model.weight_bytes);
    cache_bytes(model, 1, positions).map_or(0, |each| left / each)
}
