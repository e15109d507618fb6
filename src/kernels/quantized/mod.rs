//! Quantized weights: small integers in groups, with a scale for each group of each output.
//!
//! A weight is `scale * integer`, in some formats less a minimum that the group shares. The
//! activations stay f32: the microkernel converts the integers in registers, sums `integer * x` over
//! a group, and multiplies the sum by the scale. The groups are added in order, so that a result has
//! the same bits however it is computed, as with dense weights.

mod int4;
mod int8;
mod integers;
mod product;
mod round;

use std::ops::Range;

use bytemuck::Pod;

use half::f16;

use super::microkernel::{LANES, vectors};
use super::number::Precision;
use super::panels::PanelFormat;
use super::simd::{Isa, WIDTH};
pub(super) use int4::{Int4, Int4Min};
pub(super) use int8::{Int8, Int8Halves, Int8Min};
pub(super) use integers::{IntegerProducts, ROWS, RoundedGroup, rounded, single_rounded};
pub(super) use product::{Unpacked, products, unpacked};
pub use round::{Rounding, quantize};

/// Calls a function that is generic over [`PackedGroups`] with the type for a [`GroupFormat`].
macro_rules! with_groups {
    ($format:expr, $G:ident => $body:expr) => {
        match $format {
            $crate::kernels::GroupFormat::Int8 => {
                type $G = $crate::kernels::quantized::Int8;
                $body
            }
            $crate::kernels::GroupFormat::Int4 => {
                type $G = $crate::kernels::quantized::Int4;
                $body
            }
            $crate::kernels::GroupFormat::Int8Min => {
                type $G = $crate::kernels::quantized::Int8Min;
                $body
            }
            $crate::kernels::GroupFormat::Int4Min => {
                type $G = $crate::kernels::quantized::Int4Min;
                $body
            }
            $crate::kernels::GroupFormat::Int8Halves => {
                type $G = $crate::kernels::quantized::Int8Halves;
                $body
            }
        }
    };
}
pub(super) use with_groups;

/// Weights of one output, along the inner dimension, that share a scale.
pub const GROUP: usize = 32;

/// The formats that weights are quantized to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
}

/// How the inputs of a layer are multiplied with its weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Activations {
    /// As they are: the weights are converted to f32.
    #[default]
    F32,
    /// With weights in bf16: rounded to bf16, and summed in the order of a matrix unit. Less accurate,
    /// and for many rows faster, where the processor has products of bf16.
    Bf16,
    /// With quantized weights: each group rounded to integers from -127 to 127, with a scale in f32. Less
    /// accurate, and for many rows faster, since products of integers are cheap.
    Int8,
}

impl Activations {
    /// The name that the flag `--activations` uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::Int8 => "int8",
        }
    }

    /// Whether there are products of them with weights of a format.
    pub fn fit(self, weights: PanelFormat) -> bool {
        match self {
            Self::F32 => true,
            Self::Bf16 => weights == PanelFormat::Dense(Precision::Bf16),
            Self::Int8 => matches!(weights, PanelFormat::Quantized(_)),
        }
    }
}

/// The formats of quantized weights in memory: those that weights are quantized to, and those that
/// hold every value of a format that files have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GroupFormat {
    /// `scale * integer`, with 8 bits and a scale in f16.
    Int8,
    /// `scale * integer`, with 4 bits, from -8 to 7, and a scale in f16.
    Int4,
    /// `scale * integer - min`, with 8 bits, and scale and minimum in f32.
    Int8Min,
    /// `scale * integer - min`, with 4 bits, from 0 to 15, and scale and minimum in f32.
    Int4Min,
    /// As [`Int8`](Self::Int8), with a scale in f32 for each half of a group.
    Int8Halves,
}

impl From<Quantized> for GroupFormat {
    fn from(format: Quantized) -> Self {
        match format {
            Quantized::Int8 => Self::Int8,
            Quantized::Int4 => Self::Int4,
        }
    }
}

impl GroupFormat {
    /// The width of the integers, as users know it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int8 | Self::Int8Min | Self::Int8Halves => "int8",
            Self::Int4 | Self::Int4Min => "int4",
        }
    }

    /// The bytes of 1024 weights with their scales: of a group of each of 32 outputs.
    pub fn bytes_of_1024(self) -> usize {
        with_groups!(self, G => size_of::<G>())
    }
}

/// A group of one output: `scale * integer - min`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Group {
    /// One for each half of the group. Formats that have one scale take the first.
    pub scales: [f32; 2],
    pub min: f32,
    pub integers: [i8; GROUP],
}

impl Group {
    /// A group of zeros.
    pub const ZERO: Self = Self { scales: [0.0; 2], min: 0.0, integers: [0; GROUP] };
}

/// The groups of 32 outputs, packed: their scales, their minima if the format has them, and
/// `[GROUP][32]` integers.
pub(super) trait PackedGroups: Pod + Send + Sync {
    type Integers: PackedIntegers;

    const FORMAT: GroupFormat;

    /// Added to each integer when it is unpacked, because that is faster.
    const OFFSET: f32 = 0.0;

    /// Parts of a group that have a scale of their own: 1, or 2 halves.
    const PARTS: usize = 1;

    /// Packs 32 groups. Scales and integers must be numbers of the format.
    fn pack(groups: &[Group; LANES]) -> Self;

    /// The integers, each of which is unpacked plus [`OFFSET`](Self::OFFSET).
    fn integers(&self) -> &Self::Integers;

    /// Adds to `sums` the products of a part of `P` groups, as [`PackedIntegers::multiply`].
    #[inline(always)]
    fn multiply<I: Isa, const M: usize, const P: usize, const V: usize>(
        groups: [&Self; P],
        first: usize,
        part: usize,
        x: &[[f32; M]; GROUP],
        sums: &mut [[[I::Vector; V]; M]; P],
    ) {
        let of_part = part * GROUP / Self::PARTS..(part + 1) * GROUP / Self::PARTS;
        let mut integers = [groups[0].integers(); P];
        for p in 0..P {
            integers[p] = groups[p].integers();
        }
        Self::Integers::multiply::<I, M, P, V>(integers, first, of_part, x, sums);
    }

    /// The scales of a part of the group.
    fn scales<I: Isa>(&self, part: usize) -> [f32; LANES];

    /// One of [`scales`](Self::scales), in scalar code.
    fn scale(&self, part: usize, output: usize) -> f32;

    /// Adds the products with a group of each row to `acc`, `[rows][outputs]`: sums of integers,
    /// times the scales of both.
    fn add_rounded<I: Isa>(&self, x: &[RoundedGroup], acc: &mut [[f32; LANES]]);

    /// [`add_rounded`](Self::add_rounded) for one row.
    fn add_rounded_row<I: Isa>(&self, x: &RoundedGroup, acc: &mut [f32; LANES]);

    /// The minima, where the format has them.
    #[inline(always)]
    fn mins(&self) -> Option<&[f32; LANES]> {
        None
    }

    /// The `k`-th weight of one output.
    #[inline(always)]
    fn weight(&self, k: usize, output: usize) -> f32 {
        let integer = self.integers().get(k)[output] - Self::OFFSET;
        let scale = self.scale(k * Self::PARTS / GROUP, output);
        scale * integer - self.mins().map_or(0.0, |mins| mins[output])
    }
}

/// The integers of the groups of 32 outputs.
pub(super) trait PackedIntegers {
    /// The `k`-th integers of 32 outputs.
    fn get(&self, k: usize) -> [f32; LANES];

    /// [`get`](Self::get) for all `k`.
    fn unpack<I: Isa>(&self, numbers: &mut [[f32; LANES]; GROUP]);

    /// Adds to `sums` the products of the integers of `P` groups with `M` rows of `x`, for the `k` of a part, and the
    /// vectors of outputs from `first` on. Integers are converted in registers.
    fn multiply<I: Isa, const M: usize, const P: usize, const V: usize>(
        integers: [&Self; P],
        first: usize,
        of_part: Range<usize>,
        x: &[[f32; M]; GROUP],
        sums: &mut [[[I::Vector; V]; M]; P],
    );
}

/// The scales of 32 outputs.
#[inline(always)]
fn widen_f16<I: Isa>(halves: &[f16; LANES]) -> [f32; LANES] {
    let mut scales = [0.0; LANES];
    let (vectors_of_scales, _) = scales.as_chunks_mut::<WIDTH>();
    for (scales, halves) in vectors_of_scales.iter_mut().zip(vectors(halves)) {
        I::store(I::widen_f16(halves), scales);
    }
    scales
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
