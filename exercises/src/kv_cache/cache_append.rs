//! Appending to a preallocated KV cache.

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

    /// A new token must not cost a copy of everything before it. So write the keys and values of
    /// `seq` new positions behind the filled ones, into memory that is already there, and return
    /// everything that is filled now.
    ///
    /// `keys` and `values` are `[1, n_kv_heads, seq, head_dim]`, and `seq` is at least 1. You
    /// return the keys and the values up to and including the new ones,
    /// `[1, n_kv_heads, length, head_dim]`, without the places that are not filled yet.
    ///
    /// Copy the new rows and nothing else, however much the cache holds. (The caller drops what one
    /// append returned before the next one.)
    ///
    /// What if the new positions don't all fit? Then you change nothing and return [`CacheFull`],
    /// with the capacity, the length so far, and how many were to come (`seq`). What is in the
    /// cache stays, and fewer positions may still be appended. A cache may be filled to its last
    /// place.
    ///
    /// ```text
    /// capacity 4, one head of one number; . is a place that is not filled
    ///
    /// append(keys 1 2)   holds 1 2 . .   returns keys 1 2
    /// append(keys 3)     holds 1 2 3 .   returns keys 1 2 3
    /// append(keys 4 5)   holds 1 2 3 .   returns CacheFull { capacity: 4, length: 3, new: 2 }
    /// append(keys 4)     holds 1 2 3 4   returns keys 1 2 3 4
    /// ```
    ///
    /// Burn writes into the memory of a tensor with `slice_assign`. `tensor.inplace(|all| ...)`
    /// hands the tensor out and takes the result back. The chapter shows both.
    pub fn append(
        &mut self,
        keys: Tensor<4>,
        values: Tensor<4>,
    ) -> Result<(Tensor<4>, Tensor<4>), CacheFull> {
        todo!()
    }
}
