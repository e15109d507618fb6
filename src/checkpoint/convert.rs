//! Converts the numbers of a file to the type of the model.

use std::mem::MaybeUninit;

use burn::tensor::{DType, bf16, f16};
use bytes::BytesMut;
use half::slice::HalfFloatSliceExt;
use rayon::prelude::*;

use super::weight_file::StoredTensor;
use crate::error::{Error, Result};
use crate::kernels::{Precision, StoredMatrix};

/// Numbers that a thread reads and converts at once: few enough to stay in the cache, and enough to
/// make the cost of the system call negligible. A multiple of any quantized block.
const CHUNK: usize = 1 << 16;

// Files store numbers in little-endian order, so their bytes need no conversion here.
const _: () = assert!(cfg!(target_endian = "little"));

/// Appends all numbers of a tensor as `dtype`. The file is read in chunks, so that the only extra
/// memory is one chunk per thread.
///
/// The threads share the work because most of the time goes into page faults: the system zeroes
/// each new page at its first use.
///
/// # Errors
/// A file that cannot be read.
pub(super) fn append(tensor: &StoredTensor<'_>, dtype: DType, to: &mut BytesMut) -> Result<()> {
    let (from, dtype) = (tensor.dtype(), Precision::of(dtype).dtype());
    let (from_chunk, to_chunk) = (CHUNK * from.size(), CHUNK * dtype.size());
    let length = tensor.length() / from.size() * dtype.size();
    to.reserve(length);
    let room = to.spare_capacity_mut()[..length].par_chunks_mut(to_chunk);
    room.enumerate().try_for_each_init(Vec::new, |buffer, (i, room)| {
        let start = i * from_chunk;
        let end = tensor.length().min(start + from_chunk);
        convert(tensor.bytes(start..end, buffer)?, from, dtype, room);
        Ok::<_, Error>(())
    })?;
    // SAFETY: `convert` fills all that it is given, which is `length` bytes in all.
    unsafe { to.set_len(to.len() + length) };
    Ok(())
}

/// Fills `to` with as many numbers as `bytes` holds.
fn convert(bytes: &[u8], from: DType, dtype: DType, to: &mut [MaybeUninit<u8>]) {
    if from == dtype {
        to.write_copy_of_slice(bytes);
        return;
    }
    let numbers = to_f32(bytes, from);
    match dtype {
        DType::F16 => {
            let mut halves = vec![f16::ZERO; numbers.len()];
            halves.convert_from_f32_slice(&numbers);
            to.write_copy_of_slice(bytemuck::cast_slice(&halves));
        }
        DType::BF16 => {
            let mut halves = vec![bf16::ZERO; numbers.len()];
            halves.convert_from_f32_slice(&numbers);
            to.write_copy_of_slice(bytemuck::cast_slice(&halves));
        }
        _ => {
            to.write_copy_of_slice(bytemuck::cast_slice(&numbers));
        }
    }
}

fn to_f32(bytes: &[u8], dtype: DType) -> Vec<f32> {
    let mut numbers = vec![0.0; bytes.len() / dtype.size()];
    match dtype {
        DType::F16 => values(bytes, f16::from_le_bytes).convert_to_f32_slice(&mut numbers),
        DType::BF16 => values(bytes, bf16::from_le_bytes).convert_to_f32_slice(&mut numbers),
        _ => numbers = values(bytes, f32::from_le_bytes),
    }
    numbers
}

/// Decodes numbers of `N` bytes each, which need not be aligned.
fn values<const N: usize, T>(bytes: &[u8], value: impl Fn([u8; N]) -> T) -> Vec<T> {
    let (numbers, _) = bytes.as_chunks::<N>();
    numbers.iter().map(|bytes| value(*bytes)).collect()
}

/// The transpose of a matrix `[n_in, n_out]` with numbers of this type.
///
/// The data itself is transposed: a transposed tensor is a view, which every product would read with a
/// large stride.
pub(super) fn transposed(matrix: &[u8], dtype: DType, n_out: usize) -> BytesMut {
    let mut to = BytesMut::new();
    match Precision::of(dtype).size() {
        2 => append_transposed::<2>(matrix, n_out, &mut to),
        _ => append_transposed::<4>(matrix, n_out, &mut to),
    }
    to
}

/// Appends the transpose of a matrix with numbers of `N` bytes and `columns` columns.
fn append_transposed<const N: usize>(matrix: &[u8], columns: usize, to: &mut BytesMut) {
    /// Numbers in a cache line.
    const LINE: usize = 16;
    let start = to.len();
    to.resize(start + matrix.len(), 0);
    let (matrix, _) = matrix.as_chunks::<N>();
    let (turned, _) = to[start..].as_chunks_mut::<N>();
    let rows = matrix.len().checked_div(columns).unwrap_or(0);
    for first in (0..columns).step_by(LINE) {
        let strip = first..columns.min(first + LINE);
        for (row, numbers) in matrix.chunks(columns).enumerate() {
            for (column, number) in strip.clone().zip(&numbers[strip.clone()]) {
                turned[column * rows + row] = *number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transpose(matrix: &[u8], columns: usize) -> Vec<u8> {
        let mut turned = BytesMut::from(&[7][..]);
        append_transposed::<1>(matrix, columns, &mut turned);
        assert_eq!(turned[0], 7, "what was there before stays");
        turned[1..].to_vec()
    }

    #[test]
    fn a_matrix_is_turned() {
        assert_eq!(transpose(&[1, 2, 3, 4, 5, 6], 3), [1, 4, 2, 5, 3, 6]);
        assert!(transpose(&[], 0).is_empty());
        // More columns than a cache line holds.
        let (rows, columns) = (3, 37);
        let matrix: Vec<u8> = (0..rows * columns).collect();
        for (i, number) in (0..).zip(transpose(&matrix, usize::from(columns))) {
            let (column, row) = (i / rows, i % rows);
            assert_eq!(number, row * columns + column);
        }
    }
}
