//! Quantized weights: small integers in groups, with a scale for each group of each output.
//!
//! A weight is `scale * integer`. The activations stay f32: the microkernel converts the integers
//! in registers, sums `integer * x` over a group, and multiplies the sum by the scale. The groups
//! are added in order, so that a result has the same bits however it is computed, as with dense
//! weights.

mod int4;
mod int8;
mod product;
mod round;

use bytemuck::Pod;

use super::microkernel::LANES;
pub(super) use int4::Int4;
pub(super) use int8::Int8;
pub(super) use product::{Unpacked, rows, single};
pub use round::{Rounding, quantize};

/// Weights of one output, along the inner dimension, that share a scale.
pub const GROUP: usize = 32;

/// The formats of quantized weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Quantized {
    /// 8 bits: -127 to 127, and a scale in f16.
    Int8,
    /// 4 bits: -8 to 7, and a scale in f16.
    Int4,
}

impl Quantized {
    /// The name that the flag `--quantize` uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int8 => "int8",
            Self::Int4 => "int4",
        }
    }

    /// The least and the greatest integer.
    pub fn range(self) -> [i8; 2] {
        match self {
            Self::Int8 => [-127, 127],
            Self::Int4 => [-8, 7],
        }
    }

    /// Bytes of the groups of 32 outputs, with their scales.
    pub(super) fn group_bytes(self) -> usize {
        match self {
            Self::Int8 => size_of::<Int8>(),
            Self::Int4 => size_of::<Int4>(),
        }
    }
}

/// The groups of 32 outputs, packed: 32 scales, and `[GROUP][32]` integers.
pub(super) trait PackedGroups: Pod + Send + Sync {
    const FORMAT: Quantized;

    /// Added to each integer by [`integers`](Self::integers), because that is faster.
    const OFFSET: f32;

    /// Packs 32 groups: their scales, and `[32][GROUP]` integers.
    fn pack(scales: [half::f16; LANES], integers: &[[i8; GROUP]; LANES]) -> Self;

    /// The `k`-th integers of 32 outputs, plus [`OFFSET`](Self::OFFSET).
    fn integers(&self, k: usize) -> [f32; LANES];

    fn scales(&self) -> &[half::f16; LANES];

    /// The `k`-th weight of one output.
    #[inline(always)]
    fn weight(&self, k: usize, output: usize) -> f32 {
        let integer = self.integers(k)[output] - Self::OFFSET;
        self.scales()[output].to_f32() * integer
    }
}

/// The sums of a group of `M` rows of `x`, in pairs: the upper half is added to the lower one until
/// one is left.
#[inline(always)]
pub(super) fn sum_group<const M: usize>(x: &[[f32; M]; GROUP]) -> [f32; M] {
    let mut sums = *x;
    let mut left = GROUP / 2;
    while left > 0 {
        let (lower, upper) = sums.split_at_mut(left);
        for (lower, upper) in lower.iter_mut().zip(upper) {
            for (sum, upper) in lower.iter_mut().zip(upper) {
                *sum += *upper;
            }
        }
        left /= 2;
    }
    sums[0]
}

/// Calls a function that is generic over [`PackedGroups`] with the type for a [`Quantized`].
macro_rules! with_groups {
    ($format:expr, $G:ident => $body:expr) => {
        match $format {
            $crate::kernels::Quantized::Int8 => {
                type $G = $crate::kernels::quantized::Int8;
                $body
            }
            $crate::kernels::Quantized::Int4 => {
                type $G = $crate::kernels::quantized::Int4;
                $body
            }
        }
    };
}
pub(super) use with_groups;
