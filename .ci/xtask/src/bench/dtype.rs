//! What weights, keys and values are stored in.

use clap::ValueEnum;
use slowburn::device::Precision;
use slowburn::kernels::{Activations, KvFormat, Quantized, Rounding};
use slowburn::storage::Storage;

/// What weights, keys and values are stored in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Dtype {
    F32,
    F16,
    /// Not of peers.
    Bf16,
    /// As bf16, with activations in bf16.
    #[value(name = "bf16-bf16")]
    Bf16Rounded,
    /// All matrices in int8 (llama.cpp's q8_0), keys and values in f16.
    Int8,
    /// The layers in int4 (llama.cpp's q4_0), the embedding and the head in int8, keys and values
    /// in f16.
    Int4,
    /// As int8, with activations in int8, as all of llama.cpp's are.
    #[value(name = "int8-int8")]
    Int8Rounded,
    /// As int4, with activations in int8.
    #[value(name = "int4-int8")]
    Int4Rounded,
}

impl From<Precision> for Dtype {
    fn from(precision: Precision) -> Self {
        match precision {
            Precision::F32 => Self::F32,
            Precision::F16 => Self::F16,
            Precision::Bf16 => Self::Bf16,
        }
    }
}

impl Dtype {
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => Precision::F32.name(),
            Self::F16 => Precision::F16.name(),
            Self::Bf16 => Precision::Bf16.name(),
            Self::Int8 => Quantized::Int8.name(),
            Self::Int4 => Quantized::Int4.name(),
            Self::Bf16Rounded => "bf16, activations bf16",
            Self::Int8Rounded => "int8, activations int8",
            Self::Int4Rounded => "int4, activations int8",
        }
    }

    /// How Slow Burn stores weights. The scales of quantized ones are chosen as llama.cpp's package
    /// does.
    pub fn storage(self) -> Storage {
        let quantized = |layers| Storage {
            layers: Some(layers),
            rounding: Rounding::Nearest,
            ..Precision::F32.into()
        };
        let rounded = |dtype: Self, activations| Storage { activations, ..dtype.storage() };
        match self {
            Self::F32 => Precision::F32.into(),
            Self::F16 => Precision::F16.into(),
            Self::Bf16 => Precision::Bf16.into(),
            Self::Int8 => quantized(Quantized::Int8),
            Self::Int4 => quantized(Quantized::Int4),
            Self::Bf16Rounded => rounded(Self::Bf16, Activations::Bf16),
            Self::Int8Rounded => rounded(Self::Int8, Activations::Int8),
            Self::Int4Rounded => rounded(Self::Int4, Activations::Int8),
        }
    }

    pub fn kv(self) -> KvFormat {
        match self {
            Self::F32 => KvFormat::F32,
            Self::Bf16 | Self::Bf16Rounded => KvFormat::Bf16,
            Self::F16 | Self::Int8 | Self::Int4 | Self::Int8Rounded | Self::Int4Rounded => {
                KvFormat::F16
            }
        }
    }

    pub fn is_quantized(self) -> bool {
        self.storage().is_quantized()
    }

    /// The same weights, with activations as they are.
    pub fn weights(self) -> Self {
        match self {
            Self::Bf16Rounded => Self::Bf16,
            Self::Int8Rounded => Self::Int8,
            Self::Int4Rounded => Self::Int4,
            other => other,
        }
    }
}
