//! The types in which tensors are stored.

use std::fmt::{self, Display, Formatter};

use burn::tensor::DType;

use super::blocks::BlockType;
use crate::kernels::GroupFormat;

/// How a tensor's numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TensorType {
    F32,
    F16,
    Bf16,
    /// Quantized, with other numbers of the same row.
    Blocks(BlockType),
}

impl Display for TensorType {
    /// The name that llama.cpp uses, such as `Q4_K`.
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::F32 => "F32",
            Self::F16 => "F16",
            Self::Bf16 => "BF16",
            Self::Blocks(blocks) => blocks.name(),
        })
    }
}

impl TensorType {
    /// The type with this number in a file.
    pub(super) fn from_id(id: u32) -> Option<Self> {
        Some(match id {
            0 => Self::F32,
            1 => Self::F16,
            2 => Self::Blocks(BlockType::Q4_0),
            3 => Self::Blocks(BlockType::Q4_1),
            6 => Self::Blocks(BlockType::Q5_0),
            7 => Self::Blocks(BlockType::Q5_1),
            8 => Self::Blocks(BlockType::Q8_0),
            12 => Self::Blocks(BlockType::Q4K),
            13 => Self::Blocks(BlockType::Q5K),
            14 => Self::Blocks(BlockType::Q6K),
            10 => Self::Blocks(BlockType::Q2K),
            11 => Self::Blocks(BlockType::Q3K),
            20 => Self::Blocks(BlockType::Iq4Nl),
            23 => Self::Blocks(BlockType::Iq4Xs),
            30 => Self::Bf16,
            39 => Self::Blocks(BlockType::Mxfp4),
            _ => return None,
        })
    }

    /// The numbers that are stored together.
    pub(super) fn block_numbers(self) -> usize {
        match self {
            Self::F32 | Self::F16 | Self::Bf16 => 1,
            Self::Blocks(blocks) => blocks.numbers(),
        }
    }

    /// The bytes that these take.
    pub(super) fn block_bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::Blocks(blocks) => blocks.bytes(),
        }
    }

    /// The format of panels that holds every number of the blocks, if there are blocks.
    pub(super) fn group_format(self) -> Option<GroupFormat> {
        match self {
            Self::F32 | Self::F16 | Self::Bf16 => None,
            Self::Blocks(blocks) => blocks.group_format(),
        }
    }

    /// The type of the numbers once they are read: blocks become F32.
    pub(super) fn dtype(self) -> DType {
        match self {
            Self::F32 | Self::Blocks(_) => DType::F32,
            Self::F16 => DType::F16,
            Self::Bf16 => DType::BF16,
        }
    }
}

/// The name of a type that is not read.
pub(super) fn name_of_unread(id: u32) -> String {
    let name = match id {
        9 => "Q8_1",
        15 => "Q8_K",
        16 => "IQ2_XXS",
        17 => "IQ2_XS",
        18 => "IQ3_XXS",
        19 => "IQ1_S",
        21 => "IQ3_S",
        22 => "IQ2_S",
        24 => "I8",
        25 => "I16",
        26 => "I32",
        27 => "I64",
        28 => "F64",
        29 => "IQ1_M",
        34 => "TQ1_0",
        35 => "TQ2_0",
        other => return format!("type {other}"),
    };
    name.to_owned()
}
