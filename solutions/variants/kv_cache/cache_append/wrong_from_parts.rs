//! Put together again from what is filled, what is new and what is left.

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
        let [_, _, capacity, _] = self.keys.dims();
        let [_, _, new, _] = keys.dims();
        let Some(left) = (capacity - self.length).checked_sub(new) else {
            return Err(CacheFull { capacity, length: self.length, new });
        };
        let (start, end) = (self.length, self.length + new);
        let append = |old: &Tensor<4>, new: Tensor<4>| {
            let mut parts = Vec::new();
            if start > 0 {
                parts.push(old.clone().slice(s![.., .., ..start, ..]));
            }
            parts.push(new);
            if left > 0 {
                parts.push(old.clone().slice(s![.., .., end.., ..]));
            }
            Tensor::cat(parts, 2)
        };
        self.keys = append(&self.keys, keys);
        self.values = append(&self.values, values);
        self.length = end;
        Ok((self.keys.clone().narrow(2, 0, end), self.values.clone().narrow(2, 0, end)))
    }
}
