//! The old tensor is alive while the new one is written: the whole cache is copied each time.

use burn::tensor::{Device, Tensor, s};
#[derive(Debug)]
pub struct LayerCache {
    keys: Tensor<4>,
    values: Tensor<4>,
    length: usize,
}
#[derive(Debug, PartialEq)]
pub struct CacheFull {
    pub capacity: usize,
    pub length: usize,
    pub new: usize,
}

impl LayerCache {
    pub fn new(n_kv_heads: usize, capacity: usize, head_dim: usize, device: &Device) -> Self {
        let shape = [1, n_kv_heads, capacity, head_dim];
        Self {
            keys: Tensor::zeros(shape, device),
            values: Tensor::zeros(shape, device),
            length: 0,
        }
    }
    pub fn length(&self) -> usize {
        self.length
    }
    pub fn append(
        &mut self,
        keys: Tensor<4>,
        values: Tensor<4>,
    ) -> Result<(Tensor<4>, Tensor<4>), CacheFull> {
        let new = keys.dims()[2];
        let capacity = self.keys.dims()[2];
        let start = self.length;
        if new > capacity - start {
            return Err(CacheFull { capacity, length: start, new });
        }
        let end = start + new;
        self.keys = self.keys.clone().slice_assign(s![.., .., start..end, ..], keys);
        self.values = self.values.clone().slice_assign(s![.., .., start..end, ..], values);
        self.length = end;
        let filled = |all: &Tensor<4>| all.clone().slice(s![.., .., ..end, ..]);
        Ok((filled(&self.keys), filled(&self.values)))
    }
}
