//! Writes a safetensors file as a stream: only the header is held in memory.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use burn::tensor::{bf16, f16};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::json;
use slowburn::device::Precision;

use super::shape::{Fill, Tensor};

/// The usual standard deviation of initial weights.
const STD: f32 = 0.02;

/// Writes the file and returns its size in bytes.
pub fn write(tensors: &[Tensor], dtype: Precision, seed: u64, path: &Path) -> Result<u64> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut file = BufWriter::with_capacity(1 << 20, file);
    let header = header(tensors, dtype);
    file.write_all(&(header.len() as u64).to_le_bytes())?;
    file.write_all(header.as_bytes())?;
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    for tensor in tensors {
        for _ in 0..tensor.len() {
            let number = match tensor.fill {
                Fill::Ones => 1.0,
                Fill::Random => random(&mut generator),
            };
            match dtype {
                Precision::F32 => file.write_all(&number.to_le_bytes())?,
                Precision::F16 => file.write_all(&f16::from_f32(number).to_le_bytes())?,
                Precision::Bf16 => file.write_all(&bf16::from_f32(number).to_le_bytes())?,
            }
        }
    }
    file.flush()?;
    Ok(file.get_ref().metadata()?.len())
}

fn header(tensors: &[Tensor], dtype: Precision) -> String {
    let name = dtype.name().to_uppercase();
    let mut header = serde_json::Map::new();
    header.insert("__metadata__".to_owned(), json!({ "format": "pt" }));
    let mut start = 0;
    for tensor in tensors {
        let end = start + tensor.len() * dtype.size();
        let entry = json!({ "dtype": name, "shape": tensor.shape, "data_offsets": [start, end] });
        header.insert(tensor.name.clone(), entry);
        start = end;
    }
    let mut text = serde_json::Value::Object(header).to_string();
    // Aligns the data to 8 bytes, as Hugging Face's library does.
    text.extend(std::iter::repeat_n(' ', text.len().next_multiple_of(8) - text.len()));
    text
}

/// Uniform, with a standard deviation of `STD`: the distribution does not affect time and memory,
/// and this one is fast to sample.
fn random(generator: &mut impl Rng) -> f32 {
    let unit = generator.next_u32() as f32 / u32::MAX as f32; // [0, 1]
    (2.0 * unit - 1.0) * 3f32.sqrt() * STD
}
