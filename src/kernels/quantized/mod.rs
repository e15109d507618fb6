//! Quantized weights: small integers in groups, with a scale for each group of each output.
//!
//! A weight is `scale * integer`, in some formats less a minimum that the group shares. The
//! activations stay f32: the microkernel converts the integers in registers, sums `integer * x` over
//! a group, and multiplies the sum by the scale. The groups are added in order, so that a result has
//! the same bits however it is computed, as with dense weights. Floating point in 4 bits is integers
//! too, once it is doubled.

mod float4;
mod int4;
mod int8;
mod integers;
mod product;
mod round;

use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::microkernel::{LANES, vectors};
use super::number::{Number, Precision};
use super::panels::PanelFormat;
use super::simd::{Isa, WIDTH};
pub use float4::E2M1_DOUBLED;
pub(super) use float4::{Mxfp4, Nvfp4};
pub(super) use int4::{Int4, Int4Min};
pub(super) use int8::{Fp8, Int8, Int8Halves, Int8Min};
pub(super) use integers::{IntegerProducts, ROWS, RoundedGroup, rounded, single_rounded};
pub(super) use product::{Unpacked, products, unpacked};
pub use round::{Rounding, quantize};

/// Calls a function that is generic over [`PackedGroups`] with the type for a [`GroupFormat`].
macro_rules! with_groups {
    ($format:expr, $G:ident => $body:expr) => {
        $crate::kernels::quantized::with_groups!(
            $format, $G => $body; Int8 Int4 Int8Min Int4Min Int8Halves Mxfp4 Nvfp4 Fp8
        )
    };
    ($format:expr, $G:ident => $body:expr; $($name:ident)*) => {
        match $format {
            $($crate::kernels::GroupFormat::$name => {
                type $G = $crate::kernels::quantized::$name;
                $body
            })*
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
    /// With weights quantized to integers or to 4 bits of floating point: each group rounded to integers from -127 to
    /// 127, with a scale in f32. Less
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
            Self::Int8 => {
                matches!(weights, PanelFormat::Quantized(format) if format != GroupFormat::Fp8)
            }
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
    /// `scale * number`, with 4 bits of floating point ([`E2M1_DOUBLED`]), and a scale in bf16, which is
    /// a power of two.
    Mxfp4,
    /// The same numbers, with a scale in f32 for each half of a group.
    Nvfp4,
    /// `scale * number / 256`, with 8 bits of floating point (E4M3), and a scale in f32. A group has codes in place of
    /// integers.
    Fp8,
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
    /// The type of the weights, as users know it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int8 | Self::Int8Min | Self::Int8Halves => "int8",
            Self::Int4 | Self::Int4Min => "int4",
            Self::Mxfp4 => "mxfp4",
            Self::Nvfp4 => "nvfp4",
            Self::Fp8 => "fp8",
        }
    }

    /// The format of integers that holds the same numbers, if there is one, for GPUs, which have no kernels for
    /// floating point in few bits.
    #[cfg(feature = "cube")]
    pub(crate) fn on_gpu(self) -> Option<Self> {
        match self {
            Self::Mxfp4 => Some(Self::Int8Min),
            Self::Nvfp4 => Some(Self::Int8Halves),
            Self::Fp8 => None,
            other => Some(other),
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

/// The groups of 32 outputs, packed: their scales, and `[GROUP][32]` integers.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Packed<S, N> {
    scales: S,
    integers: N,
}

// SAFETY: two numbers or arrays of them, with nothing between or behind, which `pack` checks.
unsafe impl<S: Pod, N: Pod> Zeroable for Packed<S, N> {}
// SAFETY: as above.
unsafe impl<S: Pod, N: Pod> Pod for Packed<S, N> {}

/// [`Packed`], in one of its formats.
pub(super) trait PackedGroups: Pod + Send + Sync {
    type Scales: PackedScales;
    type Integers: PackedIntegers;

    /// Added to each integer when it is unpacked, because that is faster.
    const OFFSET: f32 = <Self::Integers as PackedIntegers>::OFFSET;

    /// Parts of a group that have a scale of their own: 1, or 2 halves.
    const PARTS: usize = <Self::Scales as PackedScales>::PARTS;

    /// Packs 32 groups. Scales and integers must be numbers of the format.
    fn pack(groups: &[Group; LANES]) -> Self;

    fn packed_scales(&self) -> &Self::Scales;

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
    #[inline(always)]
    fn scales<I: Isa>(&self, part: usize) -> [f32; LANES] {
        self.packed_scales().widen::<I>(part)
    }

    /// The minima, where the format has them.
    #[inline(always)]
    fn mins(&self) -> Option<&[f32; LANES]> {
        self.packed_scales().mins()
    }

    /// Adds the products with a group of each row to `acc`, `[rows][outputs]`: sums of integers,
    /// times the scales of both.
    #[inline(always)]
    fn add_rounded<I: Isa>(&self, x: &[RoundedGroup], acc: &mut [[f32; LANES]]) {
        let first = self.scales::<I>(0);
        if Self::PARTS == 1 {
            self.integers().add_rounded::<I, 1>(&[first], x, acc);
        } else {
            self.integers().add_rounded::<I, 2>(&[first, self.scales::<I>(1)], x, acc);
        }
    }

    /// [`add_rounded`](Self::add_rounded) for one row.
    #[inline(always)]
    fn add_rounded_row<I: Isa>(&self, x: &RoundedGroup, acc: &mut [f32; LANES]) {
        let first = self.scales::<I>(0);
        if Self::PARTS == 1 {
            self.integers().add_rounded_row::<I, 1>(&[first], x, acc);
        } else {
            self.integers().add_rounded_row::<I, 2>(&[first, self.scales::<I>(1)], x, acc);
        }
    }

    /// The `k`-th weight of one output.
    #[inline(always)]
    fn weight(&self, k: usize, output: usize) -> f32 {
        let integer = self.integers().get(k)[output] - Self::OFFSET;
        let scale = self.packed_scales().one(k * Self::PARTS / GROUP, output);
        scale * integer - self.mins().map_or(0.0, |mins| mins[output])
    }
}

impl<S: PackedScales, N: PackedIntegers> PackedGroups for Packed<S, N> {
    type Scales = S;
    type Integers = N;

    fn pack(groups: &[Group; LANES]) -> Self {
        const { assert!(size_of::<Self>() == size_of::<S>() + size_of::<N>()) };
        Self { scales: S::pack(groups), integers: N::pack(groups) }
    }

    #[inline(always)]
    fn packed_scales(&self) -> &S {
        &self.scales
    }

    #[inline(always)]
    fn integers(&self) -> &N {
        &self.integers
    }
}

/// The scales of the groups of 32 outputs.
pub(super) trait PackedScales: Pod + Send + Sync {
    /// See [`PackedGroups::PARTS`].
    const PARTS: usize = 1;

    fn pack(groups: &[Group; LANES]) -> Self;

    /// The scales of a part of the groups.
    fn widen<I: Isa>(&self, part: usize) -> [f32; LANES];

    /// One of them, in scalar code.
    fn one(&self, part: usize, output: usize) -> f32;

    /// The minima, where the format has them.
    #[inline(always)]
    fn mins(&self) -> Option<&[f32; LANES]> {
        None
    }
}

impl<N: Number> PackedScales for [N; LANES] {
    fn pack(groups: &[Group; LANES]) -> Self {
        let mut scales = Self::zeroed();
        N::narrow(&groups.each_ref().map(|group| group.scales[0]), &mut scales);
        scales
    }

    #[inline(always)]
    fn widen<I: Isa>(&self, _: usize) -> [f32; LANES] {
        let mut scales = [0.0; LANES];
        let (vectors_of_scales, _) = scales.as_chunks_mut::<WIDTH>();
        for (scales, numbers) in vectors_of_scales.iter_mut().zip(vectors(self)) {
            I::store(N::widen::<I>(numbers), scales);
        }
        scales
    }

    #[inline(always)]
    fn one(&self, _: usize, output: usize) -> f32 {
        self[output].widen_one()
    }
}

/// One for each half of a group.
impl PackedScales for [[f32; LANES]; 2] {
    const PARTS: usize = 2;

    fn pack(groups: &[Group; LANES]) -> Self {
        [0, 1].map(|half| groups.each_ref().map(|group| group.scales[half]))
    }

    #[inline(always)]
    fn widen<I: Isa>(&self, part: usize) -> [f32; LANES] {
        self[part]
    }

    #[inline(always)]
    fn one(&self, part: usize, output: usize) -> f32 {
        self[part][output]
    }
}

/// Scales with minima.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct ScalesAndMins {
    scales: [f32; LANES],
    mins: [f32; LANES],
}

impl PackedScales for ScalesAndMins {
    fn pack(groups: &[Group; LANES]) -> Self {
        Self {
            scales: groups.each_ref().map(|group| group.scales[0]),
            mins: groups.each_ref().map(|group| group.min),
        }
    }

    #[inline(always)]
    fn widen<I: Isa>(&self, _: usize) -> [f32; LANES] {
        self.scales
    }

    #[inline(always)]
    fn one(&self, _: usize, output: usize) -> f32 {
        self.scales[output]
    }

    #[inline(always)]
    fn mins(&self) -> Option<&[f32; LANES]> {
        Some(&self.mins)
    }
}

/// The integers of the groups of 32 outputs.
pub(super) trait PackedIntegers: Pod + Send + Sync {
    /// See [`PackedGroups::OFFSET`].
    const OFFSET: f32 = 0.0;

    fn pack(groups: &[Group; LANES]) -> Self;

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

    /// See [`PackedGroups::add_rounded`]. `scales` are those of each of `PARTS` parts of the group.
    fn add_rounded<I: Isa, const PARTS: usize>(
        &self,
        scales: &[[f32; LANES]; PARTS],
        x: &[RoundedGroup],
        acc: &mut [[f32; LANES]],
    );

    /// [`add_rounded`](Self::add_rounded) for one row.
    fn add_rounded_row<I: Isa, const PARTS: usize>(
        &self,
        scales: &[[f32; LANES]; PARTS],
        x: &RoundedGroup,
        acc: &mut [f32; LANES],
    );
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
