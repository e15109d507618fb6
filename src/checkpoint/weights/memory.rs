//! The memory that weights take, known before they are loaded.

#[cfg(feature = "cube")]
use burn::tensor::Device;

use super::{Source, Weights};
#[cfg(feature = "cube")]
use crate::cube;
use crate::device::{computes_on_host, has_cubes, has_kernels};
#[cfg(feature = "cube")]
use crate::error::DeviceError;
use crate::error::{LoadError, Result};
#[cfg(feature = "cube")]
use crate::kernels::Panels;
use crate::kernels::{GroupFormat, Precision};
use crate::memory;
use crate::model::Role;
use crate::storage::MatrixFormat;

impl Weights<'_> {
    /// Rejects weights that do not fit into memory: running out of memory would end the whole
    /// process.
    ///
    /// On a GPU nothing is checked: weights pass through the host one tensor at a time, and Burn
    /// does not report the memory of a GPU.
    ///
    /// Where the address space has a limit (`ulimit -v`), all counts that is reserved: a piece of the
    /// arena that is not full, what the allocator keeps for each thread, and, for a vocabulary out of
    /// all proportion, the scores of a step.
    ///
    /// # Errors
    /// Weights whose storage type takes more memory than the host has.
    pub(crate) fn check_memory(&self, vocab_size: usize) -> Result<()> {
        /// Logits, and what a sampler makes of them, for each token.
        const SCORES: u128 = 64;
        /// Two of the heaps that glibc reserves for threads, or less for a small model.
        const HEAPS: u128 = 128 << 20;
        let Source::Files(files) = &self.source else {
            return Ok(());
        };
        let bytes = self.memory();
        let around = files.arena.borrow().piece() as u128 + bytes.min(HEAPS);
        let reserved = bytes + around + vocab_size as u128 * SCORES;
        let fits = memory::fits(bytes) && memory::fits_into_addresses(reserved);
        if !computes_on_host(&self.device) || fits {
            Ok(())
        } else {
            Err(LoadError::WeightsTooLarge { origin: files.origin.clone(), bytes }.into())
        }
    }

    /// The memory of all tensors of the files as they are stored here, in bytes. Vectors, which are
    /// never quantized, count as matrices: they are too small to matter.
    pub(super) fn memory(&self) -> u128 {
        let Source::Files(files) = &self.source else {
            return 0;
        };
        let bytes_of = |name: &str, numbers: usize, blocks: Option<GroupFormat>| {
            let dense = |dtype| numbers as u128 * Precision::of(dtype).size() as u128;
            if !has_kernels(&self.device) && !has_cubes(&self.device) {
                return dense(self.dtype);
            }
            let groups = match self.format_of(Role::of(name), blocks.is_some()) {
                Some(MatrixFormat::Dense(precision)) => return dense(precision.dtype()),
                Some(MatrixFormat::Quantized(format)) => Some(GroupFormat::from(format)),
                None => blocks,
            };
            match groups {
                Some(format) => numbers as u128 * format.bytes_of_1024() as u128 / 1024,
                None => dense(self.dtype),
            }
        };
        let quantization = files.quantization.as_ref();
        files.files.iter().map(|file| file.memory(quantization, bytes_of)).sum()
    }
}

impl Role {
    /// By the name of a tensor: that of a layer has its number, as `model.layers.3.mlp.up_proj`.
    fn of(name: &str) -> Self {
        if name.split('.').any(|part| part.parse::<usize>().is_ok()) {
            Self::Layer
        } else {
            Self::Embedding
        }
    }
}

/// Rejects a matrix that is larger than a tensor may be on a GPU. Burn would report that only of what is
/// computed with it.
#[cfg(feature = "cube")]
pub(super) fn check_size(name: &str, panels: &Panels, device: &Device) -> Result<()> {
    let (bytes, largest) = (panels.bytes() as u128, cube::memory_of(device).largest);
    if bytes <= largest {
        return Ok(());
    }
    let reason = format!(
        "`{name}` takes {bytes} bytes, and a tensor may take {largest} there: store the weights in a smaller type"
    );
    Err(DeviceError::Failed(reason).into())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use burn::tensor::{DType, Device};

    use super::*;
    use crate::device::Precision;
    use crate::kernels::{Activations, Quantized, Rounding};
    use crate::model::{Model, ModelConfig};
    use crate::storage::Storage;

    const EMBER: &[u8] = include_bytes!("../../../models/ember/model.safetensors");
    const CONFIG: &[u8] = include_bytes!("../../../models/ember/config.json");

    /// The embedding and the norms count as what they are; scales and zero points are not counted.
    #[test]
    fn the_memory_of_quantized_checkpoints_is_known_too() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/quantized");
        let device = Device::flex();
        let mut seen = 0;
        for entry in folder.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
            let Ok(config) = std::fs::read(entry.join("config.json")) else {
                continue;
            };
            let bytes = std::fs::read(entry.join("model.safetensors")).unwrap();
            let weights = Weights::from_safetensors(&bytes, "file", &device, DType::F32).unwrap();
            let weights = weights.quantized_as(&config, "config").unwrap();
            let foreseen = weights.memory() as f64;
            let config = ModelConfig::from_json(&config, "config").unwrap();
            let taken = Model::load(config, &weights).unwrap().bytes() as f64;
            // What the config does not tell is assumed to be the larger; narrow matrices are padded.
            let is_close = (0.9..1.4).contains(&(foreseen / taken));
            let is_unordered = entry.ends_with("compressed-int4-order");
            assert!(is_close || is_unordered, "{entry:?}: {foreseen}, {taken}");
            seen += 1;
        }
        assert_eq!(seen, 18);
    }

    /// What is compared with the memory that is left must be what loading takes, in each storage:
    /// a model that fits as int4 must not be refused for its size in f32.
    #[test]
    fn the_memory_is_known_before_anything_is_loaded() {
        let [int8, int4] = [Quantized::Int8, Quantized::Int4];
        let [f32, f16] = [Precision::F32, Precision::F16];
        let dense = |precision| Some(MatrixFormat::Dense(precision));
        let quantized = |format| Some(MatrixFormat::Quantized(format));
        for (precision, layers, embedding, expected) in [
            (f32, None, None, &["f32"][..]),
            (f16, None, None, &["f16"]),
            (f16, None, dense(f32), &["f16", "f32"]),
            (f16, None, quantized(int8), &["f16", "int8"]),
            // The embedding is in int8 where the layers are quantized, unless another is asked for.
            (f32, Some(int8), None, &["int8"]),
            (f16, Some(int8), None, &["int8"]),
            (f32, Some(int4), None, &["int4", "int8"]),
            (f32, Some(int8), dense(f32), &["int8", "f32"]),
            (f16, Some(int8), dense(f32), &["int8", "f32"]),
            (f32, Some(int4), dense(f16), &["int4", "f16"]),
            (f32, Some(int8), quantized(int4), &["int8", "int4"]),
            (f32, Some(int4), quantized(int4), &["int4"]),
        ] {
            let rounding = Rounding::default();
            let activations = Activations::default();
            let storage = Storage { precision, layers, embedding, rounding, activations };
            let device = Device::flex();
            let weights = Weights::from_safetensors(EMBER, "ember", &device, precision.dtype());
            let weights = weights.unwrap().stored_as(storage);
            let foreseen = weights.memory() as f64;
            let config = ModelConfig::from_json(CONFIG, "config").unwrap();
            let model = Model::load(config, &weights).unwrap();
            let taken = model.bytes() as f64;
            assert!((foreseen / taken - 1.0).abs() < 0.01, "{storage:?}: {foreseen}, {taken}");
            assert_eq!(model.weight_formats(), expected, "{storage:?}");
        }
    }
}
