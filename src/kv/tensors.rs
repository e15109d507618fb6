//! A KV cache in tensors, for a device that no kernel of this crate computes on.

use burn::tensor::{DType, Device, Tensor, s};

use super::stored::Stored;
use crate::device::computes_on_host;
use crate::error::{RequestError, Result};
use crate::memory;
use crate::model::config::KvHeads;

/// The keys and values of all layers, for one sequence. The whole capacity is allocated at once.
/// The device copies the memory of a clone when either is written to.
#[derive(Debug, Clone)]
pub struct Layers {
    layers: Vec<LayerCache>,
    bytes: usize,
}

/// The keys and values of one layer.
///
/// An append writes into the memory and copies no earlier position.
#[derive(Debug, Clone)]
pub struct LayerCache {
    /// `[1, n_kv_heads, capacity, head_dim]`
    keys: Tensor<4>,
    /// `[1, n_kv_heads, capacity, head_dim]`
    values: Tensor<4>,
}

impl Layers {
    /// Empty caches for all layers.
    ///
    /// # Errors
    /// Too little memory.
    pub(super) fn new(stored: &Stored, capacity: usize) -> Result<Self> {
        let Stored { layers, device, dtype, .. } = stored;
        let bytes = Self::check_memory(stored, capacity)?;
        let layer = |heads: &KvHeads| {
            let dims = [1, heads.n_kv_heads, capacity, heads.head_dim];
            LayerCache {
                keys: Tensor::zeros(dims, (device, *dtype)),
                values: Tensor::zeros(dims, (device, *dtype)),
            }
        };
        Ok(Self { layers: layers.iter().map(layer).collect(), bytes })
    }

    /// Checks that they fit into memory, and returns their size in bytes.
    ///
    /// # Errors
    /// They do not.
    pub(super) fn check_memory(stored: &Stored, capacity: usize) -> Result<usize> {
        let Stored { layers, device, dtype, .. } = stored;
        check_memory(layers, capacity, *dtype, device)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The cache of one layer.
    pub(crate) fn layer_mut(&mut self, layer: usize) -> &mut LayerCache {
        &mut self.layers[layer]
    }
}

impl LayerCache {
    // ANCHOR: append
    /// Writes new keys and values, `[batch, n_kv_heads, seq, head_dim]`, at position `start`, and
    /// returns those of all positions so far: `[batch, n_kv_heads, start + seq, head_dim]`.
    ///
    /// The result is a view. Drop it before the next append: while two handles share the memory, a
    /// write has to copy all of it.
    pub(crate) fn append(
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

/// Checks that a cache of so many tokens fits into memory, and returns its size in
/// bytes: running out of memory would end the whole process.
///
/// On a CPU, the limit is the host's memory. Burn does not report the memory of a GPU: there, the
/// check is only that the size fits an `isize`.
fn check_memory(layers: &[KvHeads], tokens: usize, dtype: DType, device: &Device) -> Result<usize> {
    let of = |heads: &KvHeads| heads.n_kv_heads as u128 * heads.head_dim as u128;
    let numbers = layers.iter().map(of).fold(0u128, u128::saturating_add);
    let bytes = numbers.saturating_mul(2 * dtype.size() as u128).saturating_mul(tokens as u128);
    let size = isize::try_from(bytes).ok().map(isize::cast_unsigned);
    match size {
        Some(size) if !computes_on_host(device) || memory::fits(bytes) => Ok(size),
        _ => Err(RequestError::CacheTooLarge { tokens, bytes }.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: KvHeads = KvHeads::new(8, 128);

    #[test]
    fn memory_that_cannot_be_is_an_error() {
        let device = Device::default();
        check_memory(&[LARGE; 2], 4096, DType::F32, &device).unwrap();
        for tokens in [1 << 50, usize::MAX] {
            let error = check_memory(&[LARGE; 24], tokens, DType::F32, &device).unwrap_err();
            let bytes = 2 * 24 * 8 * tokens as u128 * 128 * 4;
            assert!(error.to_string().contains(&format!("{tokens} tokens")), "{error}");
            assert!(error.to_string().contains(&format!("{bytes} bytes")), "{error}");
        }
    }

    /// Linux overcommits: an allocation may succeed without the memory to back it.
    #[cfg(all(target_os = "linux", target_pointer_width = "64", feature = "flex"))]
    #[test]
    fn memory_that_is_only_promised_is_an_error() {
        let there = memory::available().unwrap();
        let tokens = usize::try_from(there / 1024).unwrap();
        let (device, heads) = (Device::flex(), KvHeads { n_kv_heads: 1, ..LARGE });
        for (tokens, fits) in [(tokens / 2, true), (tokens + tokens / 2, false)] {
            // 1,024 bytes per token
            let found = check_memory(&[heads], tokens, DType::F32, &device);
            assert_eq!(found.is_ok(), fits, "{tokens} tokens of {there} bytes");
        }
    }
}
