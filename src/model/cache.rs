//! The KV cache: what attention needs to remember of the tokens that were already read.

use std::hint::black_box;

use burn::tensor::{DType, Device, Tensor, s};

use super::config::ModelConfig;
use crate::error::{Error, Result};

/// The keys and values of one batch of sequences, for every layer.
///
/// All memory is taken at once; appending writes into it and copies nothing that is there. A
/// clone shares the memory until either is appended to, which then copies it.
#[derive(Debug, Clone)]
pub struct KvCache {
    layers: Vec<LayerCache>,
    length: usize,
    capacity: usize,
}

/// The keys and values of one layer.
#[derive(Debug, Clone)]
pub struct LayerCache {
    /// `[batch, n_kv_heads, capacity, head_dim]`
    keys: Tensor<4>,
    /// `[batch, n_kv_heads, capacity, head_dim]`
    values: Tensor<4>,
}

impl KvCache {
    // ANCHOR: new
    pub(super) fn new(
        config: &ModelConfig,
        batch: usize,
        capacity: usize,
        device: &Device,
        dtype: DType,
    ) -> Result<Self> {
        let shape = [batch, config.n_kv_heads, capacity, config.head_dim];
        check_memory(config.n_layers, shape, dtype)?;
        let layer = || LayerCache {
            keys: Tensor::zeros(shape, (device, dtype)),
            values: Tensor::zeros(shape, (device, dtype)),
        };
        Ok(Self {
            layers: (0..config.n_layers).map(|_| layer()).collect(),
            length: 0,
            capacity,
        })
    }
    // ANCHOR_END: new

    /// How many tokens it holds: the position of the next one.
    pub fn length(&self) -> usize {
        self.length
    }

    /// How many tokens fit.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    // ANCHOR: bytes
    /// The memory it takes, filled or not:
    /// `2 * layers * batch * n_kv_heads * capacity * head_dim * bytes per number`.
    pub fn bytes(&self) -> usize {
        let per_layer = |layer: &LayerCache| {
            let elements = layer.keys.shape().num_elements();
            2 * elements * layer.keys.dtype().size()
        };
        self.layers.iter().map(per_layer).sum()
    }
    // ANCHOR_END: bytes

    /// One layer, to be appended to at [`length`](Self::length).
    pub(super) fn layer_mut(&mut self, layer: usize) -> &mut LayerCache {
        &mut self.layers[layer]
    }

    /// Counts `new` tokens that every layer has appended.
    pub(super) fn advance(&mut self, new: usize) {
        self.length += new;
    }

    pub(super) fn check_room(&self, new: usize) -> Result<()> {
        if self.length + new > self.capacity {
            return Err(Error::CacheFull { capacity: self.capacity, length: self.length, new });
        }
        Ok(())
    }
}

impl LayerCache {
    // ANCHOR: append
    /// Writes new keys and values, `[batch, n_kv_heads, seq, head_dim]`, at position `start`
    /// and returns all up to and with them: `[batch, n_kv_heads, start + seq, head_dim]`.
    ///
    /// What is returned is a view. Drop it before the next append: while two handles share
    /// the memory, a write has to copy all of it.
    pub fn append(
        &mut self,
        keys: Tensor<4>,
        values: Tensor<4>,
        start: usize,
    ) -> (Tensor<4>, Tensor<4>) {
        let end = start + keys.dims()[2];
        self.keys.inplace(|all| all.slice_assign(s![.., .., start..end, ..], keys));
        self.values.inplace(|all| all.slice_assign(s![.., .., start..end, ..], values));
        let upto = |all: &Tensor<4>| all.clone().slice(s![.., .., ..end, ..]);
        (upto(&self.keys), upto(&self.values))
    }
    // ANCHOR_END: append
}

/// Whether the system would give the memory of a cache whose keys have this `shape`. To ask for
/// memory that is not there ends the whole program.
///
/// The host is asked, whose memory it is on a CPU. A GPU says so itself, by a panic.
fn check_memory(layers: usize, shape: [usize; 4], dtype: DType) -> Result<()> {
    let factors = [2, layers, dtype.size()].into_iter().chain(shape);
    let bytes = factors.fold(1u128, |product, factor| product.saturating_mul(factor as u128));
    let is_given = |bytes| {
        let mut memory = Vec::<u8>::new();
        let given = memory.try_reserve_exact(bytes).is_ok();
        // Memory that nobody looks at may be optimised away, and the question with it.
        black_box(memory);
        given
    };
    match usize::try_from(bytes).is_ok_and(is_given) {
        true => Ok(()),
        false => Err(Error::CacheTooLarge { tokens: shape[2], bytes }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_cannot_be_is_an_error() {
        check_memory(24, [1, 8, 4096, 128], DType::F32).unwrap();
        for tokens in [1 << 50, usize::MAX] {
            let error = check_memory(24, [1, 8, tokens, 128], DType::F32).unwrap_err();
            let bytes = 2 * 24 * 8 * tokens as u128 * 128 * 4;
            assert!(error.to_string().contains(&format!("{tokens} tokens")), "{error}");
            assert!(error.to_string().contains(&format!("{bytes} bytes")), "{error}");
        }
    }
}
