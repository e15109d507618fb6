//! Quantized blocks: 32 or 256 numbers as small integers, with a scale for each group of them.
//!
//! A number is `scale * integer - min`. The types without a minimum have 0 there, which changes no
//! bit of a difference.

mod k_quants;
mod simple;
mod tables;

use half::f16;

use crate::kernels::{GROUP, Group, GroupFormat};

/// The most numbers in a block.
pub(super) const MOST_NUMBERS: usize = 256;

/// The most groups in a block.
const MOST_GROUPS: usize = 16;

/// A type of quantized blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockType {
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q4K,
    Q5K,
    Q6K,
    Q2K,
    Q3K,
    Iq4Nl,
    Iq4Xs,
    /// A power of two, and 4 bits for each number, of which 3 are its magnitude.
    Mxfp4,
}

/// A block taken apart. Group `g` holds the integers from `g * group` on, with `scales[g]` and
/// `mins[g]`.
#[derive(Debug, Clone)]
pub(crate) struct Unpacked {
    /// The first [`BlockType::numbers`] of them belong to the block.
    pub(crate) integers: [i8; MOST_NUMBERS],
    /// One for each group.
    pub(crate) scales: [f32; MOST_GROUPS],
    /// One for each group: 0 in the types that have none.
    pub(crate) mins: [f32; MOST_GROUPS],
}

impl Unpacked {
    pub(crate) const ZERO: Self = Self {
        integers: [0; MOST_NUMBERS],
        scales: [0.0; MOST_GROUPS],
        mins: [0.0; MOST_GROUPS],
    };
}

impl BlockType {
    /// The name that llama.cpp uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Q4_0 => "Q4_0",
            Self::Q4_1 => "Q4_1",
            Self::Q5_0 => "Q5_0",
            Self::Q5_1 => "Q5_1",
            Self::Q8_0 => "Q8_0",
            Self::Q4K => "Q4_K",
            Self::Q5K => "Q5_K",
            Self::Q6K => "Q6_K",
            Self::Q2K => "Q2_K",
            Self::Q3K => "Q3_K",
            Self::Iq4Nl => "IQ4_NL",
            Self::Iq4Xs => "IQ4_XS",
            Self::Mxfp4 => "MXFP4",
        }
    }

    /// The numbers in a block.
    pub(crate) fn numbers(self) -> usize {
        match self {
            Self::Q4_0 | Self::Q4_1 | Self::Q5_0 | Self::Q5_1 | Self::Q8_0 => 32,
            Self::Iq4Nl | Self::Mxfp4 => 32,
            Self::Q2K | Self::Q3K | Self::Q4K | Self::Q5K | Self::Q6K | Self::Iq4Xs => 256,
        }
    }

    /// The size of a block, in bytes.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Q4_0 => 18,
            Self::Q4_1 => 20,
            Self::Q5_0 => 22,
            Self::Q5_1 => 24,
            Self::Q8_0 => 34,
            Self::Q4K => 144,
            Self::Q5K => 176,
            Self::Q6K => 210,
            Self::Q2K => 84,
            Self::Q3K => 110,
            Self::Iq4Nl => 18,
            Self::Iq4Xs => 136,
            Self::Mxfp4 => 17,
        }
    }

    /// The numbers that share a scale.
    pub(crate) fn group(self) -> usize {
        match self {
            Self::Q2K | Self::Q3K | Self::Q6K => 16,
            _ => 32,
        }
    }

    /// The format of panels that holds every number. There is none with two minima in a group, which Q2_K has.
    pub(crate) fn group_format(self) -> Option<GroupFormat> {
        Some(match self {
            Self::Q8_0 | Self::Q5_0 | Self::Iq4Nl => GroupFormat::Int8,
            Self::Q4_0 => GroupFormat::Int4,
            // Of the last, for its scales in f32.
            Self::Q5_1 | Self::Q5K | Self::Iq4Xs => GroupFormat::Int8Min,
            Self::Q4_1 | Self::Q4K => GroupFormat::Int4Min,
            Self::Q3K | Self::Q6K => GroupFormat::Int8Halves,
            Self::Mxfp4 => GroupFormat::Mxfp4,
            Self::Q2K => return None,
        })
    }

    /// The groups of a block of [`bytes`](Self::bytes) bytes, as panels have them.
    pub(crate) fn groups(self, block: &[u8], groups: &mut [Group]) {
        let mut unpacked = Unpacked::ZERO;
        self.unpack(block, &mut unpacked);
        // Two in Q3_K and Q6_K, whose groups are halves of those of a panel.
        let scales = GROUP / self.group();
        let (integers, _) = unpacked.integers.as_chunks();
        for (i, (group, integers)) in groups.iter_mut().zip(integers).enumerate() {
            let first = i * scales;
            *group = Group {
                scales: [unpacked.scales[first], unpacked.scales[first + scales - 1]],
                min: unpacked.mins[first],
                integers: *integers,
            };
        }
    }

    /// Takes a block of [`bytes`](Self::bytes) bytes apart.
    pub(crate) fn unpack(self, block: &[u8], to: &mut Unpacked) {
        match self {
            Self::Q4_0 => simple::q4_0(block, to),
            Self::Q4_1 => simple::q4_1(block, to),
            Self::Q5_0 => simple::q5_0(block, to),
            Self::Q5_1 => simple::q5_1(block, to),
            Self::Q8_0 => simple::q8_0(block, to),
            Self::Q4K => k_quants::q4_k(block, to),
            Self::Q5K => k_quants::q5_k(block, to),
            Self::Q6K => k_quants::q6_k(block, to),
            Self::Q2K => k_quants::q2_k(block, to),
            Self::Q3K => k_quants::q3_k(block, to),
            Self::Iq4Nl => tables::iq4_nl(block, to),
            Self::Iq4Xs => tables::iq4_xs(block, to),
            Self::Mxfp4 => tables::mxfp4(block, to),
        }
    }

    /// The [`numbers`](Self::numbers) of a block of [`bytes`](Self::bytes) bytes.
    pub(crate) fn dequantize(self, block: &[u8], numbers: &mut [f32]) {
        let mut unpacked = Unpacked::ZERO;
        self.unpack(block, &mut unpacked);
        let integers = unpacked.integers.chunks(self.group());
        for (group, (numbers, integers)) in
            numbers.chunks_mut(self.group()).zip(integers).enumerate()
        {
            let (scale, min) = (unpacked.scales[group], unpacked.mins[group]);
            for (number, integer) in numbers.iter_mut().zip(integers) {
                *number = scale * f32::from(*integer) - min;
            }
        }
    }
}

/// The little-endian f16 at an offset of a block.
fn half_at(block: &[u8], offset: usize) -> f32 {
    f16::from_le_bytes([block[offset], block[offset + 1]]).to_f32()
}

#[cfg(test)]
mod tests;
