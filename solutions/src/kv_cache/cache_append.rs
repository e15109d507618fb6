//! Appending to a preallocated KV cache.
//!
//! Why: the length before the append is the position of the first new token, and positions are
//! places. The check comes first, so that a refused append has changed neither the memory nor the
//! length. And you return only what is filled: a place that holds nothing yet is a key of zeros,
//! and attention would give it weight.
//!
//! What it costs: copying the new rows. `slice_assign` writes in place as long as there is no other
//! handle of the tensor, and the slices that are returned are views. If the caller keeps one until
//! the next append, that append copies the whole cache.
//!
//! A common wrong turn: letting the cache grow by concatenation. No result is wrong, but every step
//! copies everything that the cache holds, and the work is quadratic again.

use burn::tensor::{Device, Tensor, s};

/// The keys and values of one layer. All memory is allocated at once.
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

    /// Writes the keys and values of `seq` new positions, `[1, n_kv_heads, seq, head_dim]`, behind
    /// those that are there, and returns all that are filled now, `[1, n_kv_heads, length,
    /// head_dim]`.
    ///
    /// # Errors
    /// Where they do not all fit. Nothing has changed then.
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
        self.keys.inplace(|all| all.slice_assign(s![.., .., start..end, ..], keys));
        self.values.inplace(|all| all.slice_assign(s![.., .., start..end, ..], values));
        self.length = end;
        let filled = |all: &Tensor<4>| all.clone().slice(s![.., .., ..end, ..]);
        Ok((filled(&self.keys), filled(&self.values)))
    }
}
