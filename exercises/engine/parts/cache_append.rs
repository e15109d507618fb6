use burn::tensor::Device;
use your_engine::Parts;
use your_engine::parts::{Cache, Heads, Rows};

use super::cache_append::LayerCache;
use crate::tensors::{heads, tensor};

pub fn take_over(parts: &mut Parts) {
    parts.cache = |n_kv_heads, capacity, head_dim| {
        Box::new(LayerCache::new(n_kv_heads, capacity, head_dim, &Device::flex()))
    };
}

impl Cache for LayerCache {
    fn append(&mut self, keys: &[Rows], values: &[Rows]) -> Result<(Heads, Heads), String> {
        let kept = LayerCache::append(self, tensor(keys), tensor(values));
        kept.map(|(keys, values)| (heads(keys), heads(values))).map_err(|full| format!("{full:?}"))
    }
}
