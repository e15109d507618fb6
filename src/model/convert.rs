//! Numbers of a file as numbers to compute with.

use burn::tensor::{Bytes, DType, bf16, f16};
use half::slice::HalfFloatSliceExt;

use super::safetensors::StoredTensor;

/// How many numbers are converted at once: few enough for what is in flight to be small
/// beside the model, and to stay in the processor's cache.
const CHUNK: usize = 1 << 18;

/// Numbers of one of the types that a model computes in.
pub enum Numbers {
    F32(Vec<f32>),
    F16(Vec<f16>),
    Bf16(Vec<bf16>),
}

impl Numbers {
    /// Room for `n` numbers; for any `dtype` but F16 and BF16 they are F32.
    pub fn with_capacity(n: usize, dtype: DType) -> Self {
        match dtype {
            DType::F16 => Numbers::F16(Vec::with_capacity(n)),
            DType::BF16 => Numbers::Bf16(Vec::with_capacity(n)),
            _ => Numbers::F32(Vec::with_capacity(n)),
        }
    }

    /// Appends all numbers of a tensor, and releases what was read as it goes: the file and
    /// its copy are never both whole in memory.
    pub fn extend(&mut self, tensor: &StoredTensor<'_>) {
        let size = tensor.dtype.size();
        let mut start = 0;
        for bytes in tensor.data.chunks(CHUNK * size) {
            match self {
                Numbers::F32(numbers) => extend_f32(numbers, bytes, tensor.dtype),
                Numbers::F16(numbers) => match tensor.dtype {
                    DType::F16 => numbers.extend(values(bytes, f16::from_le_bytes)),
                    _ => {
                        let at = numbers.len();
                        numbers.resize(at + bytes.len() / size, f16::ZERO);
                        numbers[at..].convert_from_f32_slice(&to_f32(bytes, tensor.dtype));
                    }
                },
                Numbers::Bf16(numbers) => match tensor.dtype {
                    DType::BF16 => numbers.extend(values(bytes, bf16::from_le_bytes)),
                    _ => {
                        let at = numbers.len();
                        numbers.resize(at + bytes.len() / size, bf16::ZERO);
                        numbers[at..].convert_from_f32_slice(&to_f32(bytes, tensor.dtype));
                    }
                },
            }
            tensor.release(start..start + bytes.len());
            start += bytes.len();
        }
    }

    /// The memory itself, without a copy.
    pub fn into_bytes(self) -> Bytes {
        match self {
            Numbers::F32(numbers) => Bytes::from_elems(numbers),
            Numbers::F16(numbers) => Bytes::from_elems(numbers),
            Numbers::Bf16(numbers) => Bytes::from_elems(numbers),
        }
    }
}

fn to_f32(bytes: &[u8], dtype: DType) -> Vec<f32> {
    let mut numbers = Vec::with_capacity(bytes.len() / dtype.size());
    extend_f32(&mut numbers, bytes, dtype);
    numbers
}

fn extend_f32(numbers: &mut Vec<f32>, bytes: &[u8], dtype: DType) {
    let at = numbers.len();
    match dtype {
        DType::F16 => {
            let halves: Vec<f16> = values(bytes, f16::from_le_bytes).collect();
            numbers.resize(at + halves.len(), 0.0);
            halves.convert_to_f32_slice(&mut numbers[at..]);
        }
        DType::BF16 => {
            let halves: Vec<bf16> = values(bytes, bf16::from_le_bytes).collect();
            numbers.resize(at + halves.len(), 0.0);
            halves.convert_to_f32_slice(&mut numbers[at..]);
        }
        _ => numbers.extend(values(bytes, f32::from_le_bytes)),
    }
}

/// The numbers that `N` bytes each stand for.
fn values<const N: usize, T>(
    bytes: &[u8],
    value: impl Fn([u8; N]) -> T,
) -> impl Iterator<Item = T> {
    let (numbers, _) = bytes.as_chunks::<N>();
    numbers.iter().map(move |bytes| value(*bytes))
}
