//! A model with the matrices of its layers in 8 or 4 bits of floating point, as such checkpoints are published.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use half::f16;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, View};
use serde_json::{Value, json};

use crate::small_float::{E2M1, E4M3, SmallFloat, exponent, power_of_two};

/// How matrices are stored.
#[derive(Clone, Copy)]
pub enum FloatFormat {
    /// E4M3 as they are.
    Fp8Unscaled,
    /// E4M3, with a scale in f32 for the matrix.
    Fp8Matrix,
    /// For each output.
    Fp8Output,
    /// For each block of 128 outputs and inputs.
    Fp8Blocks,
    /// E2M1, with a power of two for 32 inputs.
    Mxfp4,
    /// E2M1, with a scale in E4M3 for 16 inputs, and one in f32 for the matrix.
    Nvfp4,
}

/// A matrix as it is stored.
pub struct Stored {
    tensors: Vec<(&'static str, Tensor)>,
    /// What is read of it.
    pub weights: Vec<f32>,
}

impl Stored {
    pub fn bits(&self) -> usize {
        self.tensors.iter().map(|(_, tensor)| 8 * tensor.bytes.len()).sum()
    }
}

impl FloatFormat {
    /// Stores a matrix `[n_out, n_in]`.
    pub fn store(self, weights: &[f32], [n_out, n_in]: [usize; 2]) -> Stored {
        const BLOCK: usize = 128;
        let (float, size) = match self {
            Self::Fp8Unscaled | Self::Fp8Matrix => (E4M3, [n_out, n_in]),
            Self::Fp8Output => (E4M3, [1, n_in]),
            Self::Fp8Blocks => (E4M3, [BLOCK, BLOCK]),
            Self::Mxfp4 => (E2M1, [1, 32]),
            Self::Nvfp4 => (E2M1, [1, 16]),
        };
        let greatest = weights.iter().fold(0.0_f32, |greatest, weight| greatest.max(weight.abs()));
        // By which NVFP4 multiplies scales, so that the greatest of them is E4M3's.
        let of_scales = E4M3.greatest * E2M1.greatest / greatest;
        let blocks = Blocks::new(weights, n_in, size, |greatest| self.scale(greatest, of_scales));
        let codes = blocks.codes(float, weights);
        let weights = blocks.weights(float, &codes);
        let shape_of_scales = match self {
            Self::Fp8Unscaled | Self::Fp8Matrix => vec![1],
            _ => vec![n_out.div_ceil(size[0]), n_in.div_ceil(size[1])],
        };
        let (name, dtype, columns, bytes) = match float.bits() {
            8 => ("weight", Dtype::F8_E4M3, n_in, codes),
            _ => {
                let pairs = codes.chunks(2).map(|pair| pair[0] | pair[1] << 4).collect();
                ("weight_packed", Dtype::U8, n_in / 2, pairs)
            }
        };
        let mut tensors = self.scales(&blocks.scales, shape_of_scales, of_scales);
        tensors.push((name, Tensor { dtype, shape: vec![n_out, columns], bytes }));
        Stored { tensors, weights }
    }

    /// The scale of a block with this greatest magnitude.
    fn scale(self, greatest: f32, of_scales: f32) -> f32 {
        match self {
            Self::Fp8Unscaled => 1.0,
            Self::Fp8Matrix | Self::Fp8Output | Self::Fp8Blocks => greatest / E4M3.greatest,
            Self::Mxfp4 => {
                let power = exponent(greatest) - exponent(E2M1.greatest);
                power_of_two(power.max(-126))
            }
            Self::Nvfp4 => {
                let code = E4M3.code(greatest / E2M1.greatest * of_scales);
                E4M3.number(code) / of_scales
            }
        }
    }

    /// The tensors that hold the scales.
    fn scales(
        self,
        scales: &[f32],
        shape: Vec<usize>,
        of_scales: f32,
    ) -> Vec<(&'static str, Tensor)> {
        let code = |scale: &f32| match self {
            Self::Mxfp4 => (exponent(*scale) + 127) as u8,
            _ => E4M3.code(scale * of_scales),
        };
        let codes = scales.iter().map(code);
        match self {
            Self::Fp8Blocks => vec![("weight_scale_inv", Tensor::f32(shape, scales))],
            Self::Mxfp4 => {
                let scales = Tensor { dtype: Dtype::U8, shape, bytes: codes.collect() };
                vec![("weight_scale", scales)]
            }
            Self::Nvfp4 => {
                let scales = Tensor { dtype: Dtype::F8_E4M3, shape, bytes: codes.collect() };
                let whole = Tensor::f32(vec![1], &[of_scales]);
                vec![("weight_scale", scales), ("weight_global_scale", whole)]
            }
            _ => vec![("weight_scale", Tensor::f32(shape, scales))],
        }
    }

    /// What `config.json` says of it.
    fn config(self) -> Value {
        let (format, bits) = match self {
            Self::Fp8Blocks => {
                return json!({"quant_method": "fp8", "weight_block_size": [128, 128]});
            }
            Self::Fp8Unscaled | Self::Fp8Matrix | Self::Fp8Output => ("float-quantized", 8),
            Self::Mxfp4 => ("mxfp4-pack-quantized", 4),
            Self::Nvfp4 => ("nvfp4-pack-quantized", 4),
        };
        let weights = json!({"num_bits": bits, "type": "float", "symmetric": true});
        json!({
            "quant_method": "compressed-tensors",
            "format": format,
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}},
        })
    }

    /// Writes the model of a folder, whose weights are in f16, to the folder `to`.
    pub fn write(self, model: &Path, to: &Path) -> Result<()> {
        let read = |name: &str| {
            let path = model.join(name);
            fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
        };
        let mut config: Value = serde_json::from_slice(&read("config.json")?)?;
        config["quantization_config"] = self.config();
        fs::write(to.join("config.json"), config.to_string())?;
        fs::write(to.join("tokenizer.json"), read("tokenizer.json")?)?;
        let file = read("model.safetensors")?;
        let mut tensors = Vec::new();
        for (name, tensor) in SafeTensors::deserialize(&file)?.iter() {
            match matrix(name, tensor.dtype(), tensor.shape(), tensor.data())? {
                Some((weights, shape)) => {
                    let layer =
                        name.strip_suffix("weight").context("a matrix that is no weight")?;
                    let stored = self.store(&weights, shape).tensors;
                    tensors.extend(
                        stored.into_iter().map(|(of, tensor)| (format!("{layer}{of}"), tensor)),
                    );
                }
                None => {
                    let (dtype, shape) = (tensor.dtype(), tensor.shape().to_vec());
                    let bytes = tensor.data().to_vec();
                    tensors.push((name.to_owned(), Tensor { dtype, shape, bytes }));
                }
            }
        }
        Ok(safetensors::serialize_to_file(tensors, None, &to.join("model.safetensors"))?)
    }
}

/// The weights of a tensor of a file in f16, if it is a matrix of the layers, and its shape.
///
/// # Errors
/// Another type.
pub fn matrix(
    name: &str,
    dtype: Dtype,
    shape: &[usize],
    bytes: &[u8],
) -> Result<Option<(Vec<f32>, [usize; 2])>> {
    let &[n_out, n_in] = shape else {
        return Ok(None);
    };
    if !name.starts_with("model.layers.") {
        return Ok(None);
    }
    ensure!(dtype == Dtype::F16, "{name} is not in f16");
    let (numbers, _) = bytes.as_chunks();
    let weights = numbers.iter().map(|n| f16::from_le_bytes(*n).to_f32()).collect();
    Ok(Some((weights, [n_out, n_in])))
}

/// Blocks of weights that share a scale.
struct Blocks {
    n_in: usize,
    size: [usize; 2],
    scales: Vec<f32>,
}

impl Blocks {
    /// `scale` is that of a block with this greatest magnitude.
    fn new(weights: &[f32], n_in: usize, size: [usize; 2], scale: impl Fn(f32) -> f32) -> Self {
        let [rows, columns] = size;
        let count = (weights.len() / n_in).div_ceil(rows) * n_in.div_ceil(columns);
        let mut blocks = Self { n_in, size, scales: vec![0.0; count] };
        for (i, weight) in weights.iter().enumerate() {
            let block = blocks.of(i);
            blocks.scales[block] = blocks.scales[block].max(weight.abs());
        }
        blocks.scales.iter_mut().for_each(|greatest| *greatest = scale(*greatest));
        blocks
    }

    /// The block of a weight.
    fn of(&self, i: usize) -> usize {
        let (row, column) = (i / self.n_in, i % self.n_in);
        row / self.size[0] * self.n_in.div_ceil(self.size[1]) + column / self.size[1]
    }

    fn codes(&self, float: SmallFloat, weights: &[f32]) -> Vec<u8> {
        let code = |(i, weight): (usize, &f32)| float.code(weight / self.scales[self.of(i)]);
        weights.iter().enumerate().map(code).collect()
    }

    fn weights(&self, float: SmallFloat, codes: &[u8]) -> Vec<f32> {
        let weight = |(i, code): (usize, &u8)| float.number(*code) * self.scales[self.of(i)];
        codes.iter().enumerate().map(weight).collect()
    }
}

struct Tensor {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Tensor {
    fn f32(shape: Vec<usize>, numbers: &[f32]) -> Self {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        Self { dtype: Dtype::F32, shape, bytes }
    }
}

impl View for Tensor {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use slowburn::device::{self, DeviceChoice, Precision};
    use slowburn::model::{Input, Logits};
    use slowburn::pretrained::Pretrained;

    use super::*;

    /// The bundled model with the weights that a format stores, in f32.
    fn write_weights(format: FloatFormat, model: &Path, to: &Path) {
        let file = fs::read(model.join("model.safetensors")).unwrap();
        let tensors = SafeTensors::deserialize(&file).unwrap();
        let tensors = tensors.iter().map(|(name, tensor)| {
            let (dtype, shape, bytes) = (tensor.dtype(), tensor.shape().to_vec(), tensor.data());
            let stored = match matrix(name, dtype, &shape, bytes).unwrap() {
                Some((weights, size)) => Tensor::f32(shape, &format.store(&weights, size).weights),
                None => Tensor { dtype, shape, bytes: bytes.to_vec() },
            };
            (name.to_owned(), stored)
        });
        let tensors: Vec<_> = tensors.collect();
        safetensors::serialize_to_file(tensors, None, &to.join("model.safetensors")).unwrap();
        for name in ["config.json", "tokenizer.json"] {
            fs::copy(model.join(name), to.join(name)).unwrap();
        }
    }

    #[test]
    fn what_is_stored_is_what_the_crate_reads() {
        let device = device::open(DeviceChoice::Cpu).unwrap();
        let model = crate::root().join("models/ember");
        let logits = |folder: &Path| {
            let pretrained = Pretrained::load(folder, &device, Precision::F32).unwrap();
            assert!(pretrained.unused.is_empty(), "{:?}", pretrained.unused);
            let ids = pretrained.prompt_ids("Once upon a time, there was a fox").unwrap();
            let input = Input::whole(&ids).with_logits(Logits::All);
            pretrained.model.forward(&mut [input]).unwrap().concat()
        };
        for format in [
            FloatFormat::Fp8Unscaled,
            FloatFormat::Fp8Matrix,
            FloatFormat::Fp8Output,
            FloatFormat::Fp8Blocks,
            FloatFormat::Mxfp4,
            FloatFormat::Nvfp4,
        ] {
            let [written, plain] = [(); 2].map(|()| tempfile::tempdir().unwrap());
            format.write(&model, written.path()).unwrap();
            write_weights(format, &model, plain.path());
            let (found, expected) = (logits(written.path()), logits(plain.path()));
            let greatest = expected.iter().fold(0.0_f32, |greatest, x| greatest.max(x.abs()));
            let farthest = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
            let farthest = farthest.fold(0.0_f32, f32::max);
            assert!(farthest <= 1e-5 * greatest, "{:?}", format.config());
        }
    }
}
