//! Panels as words of 32 bits: which word holds a weight, and what its bits stand for.
//!
//! The panels of a matrix lie in the memory of the device as those of the CPU do, byte by byte. A
//! group, [`GROUP`] inputs of 32 outputs, has its scales first, and then rows of words. Each column
//! of words belongs to one output, or to the few whose weights share a word.

use burn_cubecl::cubecl;
use burn_cubecl::cubecl::prelude::*;

use crate::kernels::{GROUP, GroupFormat, LANES, PanelFormat, Precision};

/// How the weights of a panel are packed: known when a kernel is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Packing {
    pub(super) word: Word,
    pub(super) scaling: Scaling,
}

/// What a word holds, from its lowest bits on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Word {
    /// Integers of 4 bits, of one output at 8 inputs.
    Nibbles,
    /// Signed integers of 8 bits, of 4 outputs at one input.
    Bytes,
    /// Numbers of 2 outputs at one input.
    F16,
    /// As [`F16`](Self::F16).
    Bf16,
    /// A number.
    F32,
}

/// How a group's numbers become weights: `scale * number - min`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Scaling {
    /// They are the weights.
    None,
    /// A scale in f16.
    Scale,
    /// A scale in f16. The integers are stored with 8 added.
    ScaleOf8,
    /// Scale and minimum in f32.
    ScaleAndMin,
    /// A scale in f32 for each half of the group.
    Halves,
}

impl From<PanelFormat> for Packing {
    fn from(format: PanelFormat) -> Self {
        let (word, scaling) = match format {
            PanelFormat::Dense(Precision::F32) => (Word::F32, Scaling::None),
            PanelFormat::Dense(Precision::F16) => (Word::F16, Scaling::None),
            PanelFormat::Dense(Precision::Bf16) => (Word::Bf16, Scaling::None),
            PanelFormat::Quantized(GroupFormat::Int8) => (Word::Bytes, Scaling::Scale),
            PanelFormat::Quantized(GroupFormat::Int4) => (Word::Nibbles, Scaling::ScaleOf8),
            PanelFormat::Quantized(GroupFormat::Int8Min) => (Word::Bytes, Scaling::ScaleAndMin),
            PanelFormat::Quantized(GroupFormat::Int4Min) => (Word::Nibbles, Scaling::ScaleAndMin),
            PanelFormat::Quantized(GroupFormat::Int8Halves) => (Word::Bytes, Scaling::Halves),
            PanelFormat::Quantized(GroupFormat::Mxfp4 | GroupFormat::Nvfp4 | GroupFormat::Fp8) => {
                unreachable!("see `GroupFormat::on_gpu`")
            }
        };
        Self { word, scaling }
    }
}

impl Packing {
    /// The outputs that share a word.
    pub(super) fn outputs(self) -> usize {
        match self.word {
            Word::Nibbles | Word::F32 => 1,
            Word::F16 | Word::Bf16 => 2,
            Word::Bytes => 4,
        }
    }

    /// The inputs whose weights are in one word.
    pub(super) fn inputs(self) -> usize {
        match self.word {
            Word::Nibbles => 8,
            _ => 1,
        }
    }

    /// The columns of words in a panel.
    pub(super) fn columns(self) -> usize {
        LANES / self.outputs()
    }

    /// The words of a group before its integers.
    fn scale_words(self) -> usize {
        match self.scaling {
            Scaling::None => 0,
            Scaling::Scale | Scaling::ScaleOf8 => LANES / 2,
            Scaling::ScaleAndMin | Scaling::Halves => 2 * LANES,
        }
    }

    /// The scales of an output in a group.
    pub(super) fn parts(self) -> usize {
        match self.scaling {
            Scaling::Halves => 2,
            _ => 1,
        }
    }

    /// The words of a group.
    fn group_words(self) -> usize {
        self.scale_words() + GROUP / self.inputs() * self.columns()
    }
}

/// The word in which a group of a panel begins. A dense panel ends with the last input, and a
/// quantized one with a whole group.
#[cube]
pub(super) fn group_start(
    panel: usize,
    group: usize,
    n_in: usize,
    #[comptime] packing: Packing,
) -> usize {
    match packing.scaling {
        Scaling::None => (panel * n_in + group * GROUP) * comptime!(packing.columns()),
        _ => (panel * n_in.div_ceil(GROUP) + group) * comptime!(packing.group_words()),
    }
}

/// The place of a word in the group that begins at `start`: its row, and its column in the panel.
#[cube]
pub(super) fn word_at(
    start: usize,
    row: usize,
    column: usize,
    #[comptime] packing: Packing,
) -> usize {
    start + comptime!(packing.scale_words()) + row * comptime!(packing.columns()) + column
}

/// The scale of an output, from 0 to 31, in a part of a group.
#[cube]
pub(super) fn scale_at(
    words: &[u32],
    start: usize,
    output: usize,
    #[comptime] part: usize,
    #[comptime] packing: Packing,
) -> f32 {
    match packing.scaling {
        Scaling::None => 1.0f32.runtime(),
        Scaling::Scale | Scaling::ScaleOf8 => {
            let pair = words[start + output / 2];
            half((pair >> (16 * (output % 2) as u32)) & 0xffff)
        }
        Scaling::ScaleAndMin | Scaling::Halves => {
            f32::reinterpret(words[start + comptime!(part * LANES) + output])
        }
    }
}

/// The minimum of an output, from 0 to 31, in a group: what its numbers times `scale` exceed the
/// weights by.
#[cube]
pub(super) fn min_at(
    words: &[u32],
    start: usize,
    output: usize,
    scale: f32,
    #[comptime] packing: Packing,
) -> f32 {
    match packing.scaling {
        Scaling::ScaleOf8 => 8.0f32 * scale,
        Scaling::ScaleAndMin => f32::reinterpret(words[start + LANES + output]),
        _ => 0.0f32.runtime(),
    }
}

/// The weight that the `index`-th number of a word stands for.
///
/// A scale in f16 times an integer is exact in f32, and so is a difference of two such products: the
/// weights of int8 and int4 are those of the CPU, to the bit.
#[cube]
pub(super) fn weight(
    word: u32,
    #[comptime] index: usize,
    scale: f32,
    min: f32,
    #[comptime] packing: Packing,
) -> f32 {
    let number = number(word, index, packing.word);
    match packing.scaling {
        Scaling::None => number,
        Scaling::Scale | Scaling::Halves => scale * number,
        Scaling::ScaleOf8 | Scaling::ScaleAndMin => fma(scale, number, -min),
    }
}

/// The `index`-th number of a word.
#[cube]
fn number(word: u32, #[comptime] index: usize, #[comptime] kind: Word) -> f32 {
    match kind {
        Word::Nibbles => f32::cast_from((word >> comptime!(4 * index as u32)) & 15),
        Word::Bytes => {
            // The sign comes along from the highest bit.
            let highest = i32::reinterpret(word << comptime!(24 - 8 * index as u32));
            f32::cast_from(highest >> 24i32)
        }
        Word::F16 => half((word >> comptime!(16 * index as u32)) & 0xffff),
        Word::Bf16 => f32::reinterpret((word >> comptime!(16 * index as u32)) << 16),
        Word::F32 => f32::reinterpret(word),
    }
}

/// An f16, by its bits: not every device has the type.
#[cube]
fn half(bits: u32) -> f32 {
    let sign = (bits & 0x8000) << 16;
    let rest = bits & 0x7fff;
    let exponent = rest >> 10;
    // The exponents of an f32 are greater by 112, and that of infinity by 224.
    let offset = select(exponent == 31, 224u32 << 23, 112u32 << 23);
    let normal = f32::reinterpret(((rest << 13) + offset) | sign);
    // Below the least exponent, the bits count multiples of 2^-24. Devices may take a subnormal f32
    // for 0, and so none is made on the way.
    let multiples = f32::cast_from(rest) * 5.960_464_5e-8;
    let small = select(sign == 0, multiples, -multiples);
    select(exponent == 0, small, normal)
}
