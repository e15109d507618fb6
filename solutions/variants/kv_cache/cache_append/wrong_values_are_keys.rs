//! The line for the keys, copied: the values are the keys.

use burn::tensor::{Device, Tensor, s};

/// The keys and values of one layer. All memory is taken at once.
#[derive(Debug)]
pub struct LayerCache {
    /// `[1, n_kv_heads, capacity, head_dim]`
    keys: Tensor<4>,
    /// `[1, n_kv_heads, capacity, head_dim]`
    values: Tensor<4>,
    /// How many positions are filled.
    length: usize,
}

/// There is no room for `new` more positions.
#[derive(Debug, PartialEq)]
pub struct CacheFull {
    pub capacity: usize,
    pub length: usize,
    pub new: usize,
}

impl LayerCache {
    /// An empty cache with room for `capacity` positions.
    pub fn new(n_kv_heads: usize, capacity: usize, head_dim: usize, device: &Device) -> Self {
        let shape = [1, n_kv_heads, capacity, head_dim];
        Self {
            keys: Tensor::zeros(shape, device),
            values: Tensor::zeros(shape, device),
            length: 0,
        }
    }

    /// How many positions are filled.
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
        self.keys.inplace(|all| all.slice_assign(s![.., .., start..end, ..], keys.clone()));
        self.values.inplace(|all| all.slice_assign(s![.., .., start..end, ..], keys.clone()));
        self.length = end;
        let filled = |all: &Tensor<4>| all.clone().slice(s![.., .., ..end, ..]);
        Ok((filled(&self.keys), filled(&self.values)))
    }
}
