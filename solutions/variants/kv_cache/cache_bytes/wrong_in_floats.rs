//! The division is one of floats.

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
    2_u64
        .checked_mul(model.n_layers)?
        .checked_mul(batch)?
        .checked_mul(model.n_kv_heads)?
        .checked_mul(positions)?
        .checked_mul(model.head_dim)?
        .checked_mul(model.bytes_per_number)
}

pub fn sequences_that_fit(model: &ModelSize, positions: u64, memory: u64) -> u64 {
    let Some(left) = memory.checked_sub(model.weight_bytes) else {
        return 0;
    };
    match cache_bytes(model, 1, positions) {
        None => 0,
        Some(each) => (left as f64 / each as f64) as u64,
    }
}
