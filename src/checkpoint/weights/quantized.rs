//! Matrices of checkpoints that somebody else quantized, whatever the layout: a code for each weight, and scales
//! that some weights share.

mod awq;
mod bitsandbytes;
mod compressed;
mod fp8;
mod gptq;
mod parts;

use std::array;

use half::{bf16, f16};
use rayon::prelude::*;

use crate::checkpoint::quantization::{Method, Quantization};
use crate::error::Result;
use crate::kernels::{E2M1_DOUBLED, GROUP, Group, GroupFormat};
pub(super) use parts::{Parts, power_of_two};

/// A matrix `[n_out, n_in]`. A weight is `scale * (value - zero)`, in f32.
pub(in crate::checkpoint) struct QuantizedMatrix {
    n_in: usize,
    /// One for each weight, row by row.
    codes: Vec<u8>,
    /// What each code stands for.
    values: Box<[f32; 256]>,
    scales: Vec<f32>,
    /// One for each scale, or none where all are 0.
    zeros: Vec<f32>,
    sharing: Sharing,
    groups: Option<Groups>,
}

/// Which weights share a scale.
pub(super) enum Sharing {
    /// Blocks of so many rows and columns.
    Blocks { rows: usize, columns: usize },
    /// In each row, the columns of the same number, of which there are so many: GPTQ sorts columns by
    /// their importance before it groups them.
    Order { group_of: Vec<usize>, groups: usize },
    /// So many one after the other, from the end of a row to the next.
    Flat(usize),
}

/// How panels hold every weight exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Groups {
    format: GroupFormat,
    /// Subtracted from each value instead of its zero, in formats with minima.
    base: Option<f32>,
}

impl QuantizedMatrix {
    /// # Panics
    /// Where there are not as many codes as weights, or scales as the sharing asks for.
    fn new(
        [n_out, n_in]: [usize; 2],
        codes: Vec<u8>,
        values: [f32; 256],
        sharing: Sharing,
        scales: Vec<f32>,
        zeros: Vec<f32>,
    ) -> Self {
        let count = match &sharing {
            Sharing::Blocks { rows, columns } => n_out.div_ceil(*rows) * n_in.div_ceil(*columns),
            Sharing::Order { groups, .. } => n_out * groups,
            Sharing::Flat(length) => (n_out * n_in).div_ceil(*length),
        };
        assert!(codes.len() == n_out * n_in && scales.len() == count);
        assert!(zeros.is_empty() || zeros.len() == count);
        let values = Box::new(values);
        let mut matrix = Self { n_in, codes, values, scales, zeros, sharing, groups: None };
        matrix.groups = matrix.exact_groups();
        matrix
    }

    /// A matrix in E2M1. `pair` is a byte of a row, with the codes of two weights, the first in its lower half.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub(super) fn in_e2m1(
        shape: [usize; 2],
        pair: impl Fn(usize, usize) -> u8 + Sync,
        sharing: Sharing,
        scales: impl IntoIterator<Item = f32>,
    ) -> Self {
        let codes = codes(shape, |row, column| pair(row, column / 2) >> (column % 2 * 4) & 15);
        let halved = scales.into_iter().map(|scale| scale / 2.0).collect();
        Self::new(shape, codes, e2m1(), sharing, halved, Vec::new())
    }

    /// How many weights there are.
    pub(in crate::checkpoint) fn numbers(&self) -> usize {
        self.codes.len()
    }

    /// The format of panels that holds every weight exactly, if there is one.
    pub(in crate::checkpoint) fn group_format(&self) -> Option<GroupFormat> {
        self.groups.map(|groups| groups.format)
    }

    /// The groups of a row, in the [`group_format`](Self::group_format).
    pub(in crate::checkpoint) fn read_groups(&self, row: usize, groups: &mut [Group]) {
        let base = self.groups.and_then(|groups| groups.base);
        let (rows, _) = self.codes[row * self.n_in..][..self.n_in].as_chunks::<GROUP>();
        for (i, (group, codes)) in groups.iter_mut().zip(rows).enumerate() {
            let [(first, zero), (second, _)] =
                [0, GROUP / 2].map(|half| self.scale(self.run(row, i * GROUP + half).0));
            if self.group_format() == Some(GroupFormat::Fp8) {
                let integers = codes.map(|code| code as i8);
                *group = Group { scales: [256.0 * first; 2], min: 0.0, integers };
                continue;
            }
            let subtracted = base.unwrap_or(zero);
            *group = Group {
                scales: [first, second],
                min: first * (zero - subtracted),
                integers: codes.map(|code| (self.values[usize::from(code)] - subtracted) as i8),
            };
        }
    }

    /// Fills `to` with the weights from the `first` on, in f32, little-endian.
    pub(in crate::checkpoint) fn read(&self, first: usize, to: &mut [u8]) {
        let (to, _) = to.as_chunks_mut();
        let mut at = 0;
        while at < to.len() {
            let (row, column) = ((first + at) / self.n_in, (first + at) % self.n_in);
            let (index, length) = self.run(row, column);
            let length = length.min(self.n_in - column).min(to.len() - at);
            let (scale, zero) = self.scale(index);
            let codes = &self.codes[first + at..][..length];
            for (bytes, code) in to[at..at + length].iter_mut().zip(codes) {
                *bytes = (scale * (self.values[usize::from(*code)] - zero)).to_le_bytes();
            }
            at += length;
        }
    }

    /// The scale of a weight, and how many from there on share it, if the row has as many.
    fn run(&self, row: usize, column: usize) -> (usize, usize) {
        match &self.sharing {
            Sharing::Blocks { rows, columns } => {
                let of_row = self.n_in.div_ceil(*columns);
                (row / rows * of_row + column / columns, columns - column % columns)
            }
            Sharing::Order { group_of, groups } => (row * groups + group_of[column], 1),
            Sharing::Flat(length) => {
                let at = row * self.n_in + column;
                (at / length, length - at % length)
            }
        }
    }

    fn scale(&self, index: usize) -> (f32, f32) {
        (self.scales[index], self.zeros.get(index).copied().unwrap_or(0.0))
    }

    /// See [`group_format`](Self::group_format): integers, in groups that are whole ones of panels or their
    /// halves.
    fn exact_groups(&self) -> Option<Groups> {
        let exact = |format| Some(Groups { format, base: None });
        let Sharing::Blocks { columns, .. } = &self.sharing else {
            return None;
        };
        let is_shared_by = |width| columns.is_multiple_of(width) || *columns >= self.n_in;
        if !self.n_in.is_multiple_of(GROUP) || !is_shared_by(GROUP / 2) {
            return None;
        }
        if self.zeros.is_empty() && *self.values == e2m1() {
            let are_bf16 =
                self.scales.iter().all(|scale| bf16::from_f32(*scale).to_f32() == *scale);
            return exact(if are_bf16 && is_shared_by(GROUP) {
                GroupFormat::Mxfp4
            } else {
                GroupFormat::Nvfp4
            });
        }
        if self.is_e4m3() {
            let is_number = |code: &u8| code & 127 != 127;
            let fits = is_shared_by(GROUP) && self.codes.par_iter().all(is_number);
            return fits.then_some(Groups { format: GroupFormat::Fp8, base: None });
        }
        let [[least, most], [least_less_zero, most_less_zero]] = self.range()?;
        let fits = |least: f32, most: f32| least_less_zero >= least && most_less_zero <= most;
        let is_byte = fits(-128.0, 127.0);
        if !is_shared_by(GROUP) {
            return (is_byte && self.zeros.is_empty())
                .then_some(Groups { format: GroupFormat::Int8Halves, base: None });
        }
        // A product of an integer with such a scale is exact in f32, so the minimum is, too.
        let are_short = self.scales.iter().all(|scale| scale.to_bits().trailing_zeros() >= 12);
        let are_f16 = self.scales.iter().all(|scale| f16::from_f32(*scale).to_f32() == *scale);
        if are_f16 && fits(-8.0, 7.0) {
            return exact(GroupFormat::Int4);
        }
        if are_short && most - least <= 15.0 {
            return Some(Groups { format: GroupFormat::Int4Min, base: Some(least) });
        }
        if is_byte {
            return exact(if are_f16 {
                GroupFormat::Int8
            } else {
                GroupFormat::Int8Min
            });
        }
        (are_short && most - least <= 255.0)
            .then_some(Groups { format: GroupFormat::Int8Min, base: Some(least + 128.0) })
    }

    fn is_e4m3(&self) -> bool {
        let bits = |values: &[f32; 256]| values.map(f32::to_bits);
        self.zeros.is_empty() && bits(&self.values) == bits(&fp8::values())
    }

    /// The least and the greatest value that occurs, before and after its zero is subtracted, if all are
    /// integers.
    fn range(&self) -> Option<[[f32; 2]; 2]> {
        if self.values.iter().chain(&self.zeros).any(|value| value.fract() != 0.0) {
            return None;
        }
        let none = || [[f32::INFINITY, f32::NEG_INFINITY]; 2];
        let join = |[a, b]: [[f32; 2]; 2], [c, d]: [[f32; 2]; 2]| {
            [[a, c], [b, d]].map(|[x, y]| [x[0].min(y[0]), x[1].max(y[1])])
        };
        let rows = self.codes.par_chunks(self.n_in.max(1)).enumerate().map(|(row, codes)| {
            let mut all = none();
            let mut column = 0;
            while column < codes.len() {
                let (index, length) = self.run(row, column);
                let end = codes.len().min(column + length);
                let (_, zero) = self.scale(index);
                let mut range = [f32::INFINITY, f32::NEG_INFINITY];
                for code in &codes[column..end] {
                    let value = self.values[usize::from(*code)];
                    range = [range[0].min(value), range[1].max(value)];
                }
                all = join(all, [range, range.map(|value| value - zero)]);
                column = end;
            }
            all
        });
        Some(rows.reduce(none, join))
    }
}

impl Quantization {
    /// The matrix `[n_out, n_in]` that these tensors are, or none where it is not quantized.
    ///
    /// # Errors
    /// Tensors that are missing, or of a type or shape that the layout does not have.
    pub(super) fn matrix(
        &self,
        parts: &Parts<'_, '_>,
        shape: [usize; 2],
    ) -> Result<Option<QuantizedMatrix>> {
        match self.method {
            Method::Fp8 { block } => fp8::read(parts, shape, block),
            Method::CompressedTensors => compressed::read(parts, shape),
            Method::Awq => awq::read(parts, shape),
            Method::Gptq { zero_offset } => gptq::read(parts, shape, zero_offset),
            Method::BitsAndBytes => bitsandbytes::read(parts, shape),
        }
    }
}

/// A code for each weight of a matrix: `code` of a row and a column.
fn codes([n_out, n_in]: [usize; 2], code: impl Fn(usize, usize) -> u8 + Sync) -> Vec<u8> {
    /// Rows that a thread fills at once: where a layout has the codes of a column beside each other, these
    /// are in a cache line.
    const ROWS: usize = 16;
    let mut codes = vec![0; n_out * n_in];
    let strips = codes.par_chunks_mut((ROWS * n_in).max(1)).enumerate();
    strips.for_each(|(strip, codes)| {
        for column in 0..n_in {
            for (i, code_of_row) in codes.chunks_mut(n_in).enumerate() {
                code_of_row[column] = code(strip * ROWS + i, column);
            }
        }
    });
    codes
}

/// The `i`-th number of `bits` in words, the first in the lowest bits. It may end in the word after the one in which it
/// begins.
fn packed(words: impl Fn(usize) -> u32, i: usize, bits: usize) -> u8 {
    let (word, place) = (i * bits / 32, i * bits % 32);
    let mut number = words(word) >> place;
    if place + bits > 32 {
        number |= words(word + 1) << (32 - place);
    }
    number as u8 & (u8::MAX >> (8 - bits))
}

/// The values of codes that are integers from `first` on.
fn integers(first: i16) -> [f32; 256] {
    array::from_fn(|code| f32::from(code as i16 + first))
}

/// The values of codes that are integers with a sign.
fn signed() -> [f32; 256] {
    array::from_fn(|code| f32::from(code as u8 as i8))
}

/// The values of codes in E2M1, doubled.
fn e2m1() -> [f32; 256] {
    array::from_fn(|code| f32::from(E2M1_DOUBLED[code % 16]))
}

/// A matrix as it lies, `[columns][rows]`, in the order `[rows][columns]`.
fn turned<T: Copy>(matrix: &[T], rows: usize) -> Vec<T> {
    let columns = matrix.len() / rows.max(1);
    (0..rows)
        .flat_map(|row| (0..columns).map(move |column| matrix[column * rows + row]))
        .collect()
}

#[cfg(test)]
mod tests;
