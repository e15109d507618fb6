//! The types in which weights, keys and values are stored. Arithmetic is done in f32.

use burn::tensor::DType;
use bytemuck::Pod;
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use super::simd::{Isa, WIDTH, widen_one_bf16, widen_one_f16};

/// The type in which numbers are stored: the weights that are not quantized, and keys and values unless they have a
/// type of their own. On a GPU, activations have it too; on a CPU they are f32.
///
/// Independent of the type in a file:
/// [`Pretrained::precision_of`](crate::pretrained::Pretrained::precision_of) says what that is. F32 represents every
/// f16 and bf16 number exactly. The others halve the memory and the bytes that each step reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Precision {
    F32,
    F16,
    Bf16,
}

impl Precision {
    /// The storage format of a model in `dtype`: F16 and BF16 are kept, all others become F32.
    pub fn of(dtype: DType) -> Self {
        match dtype {
            DType::F16 => Precision::F16,
            DType::BF16 => Precision::Bf16,
            _ => Precision::F32,
        }
    }

    /// The name of the type, as the flag `--dtype` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Precision::F32 => "f32",
            Precision::F16 => "f16",
            Precision::Bf16 => "bf16",
        }
    }

    /// Burn's type.
    pub fn dtype(self) -> DType {
        match self {
            Precision::F32 => DType::F32,
            Precision::F16 => DType::F16,
            Precision::Bf16 => DType::BF16,
        }
    }

    /// Bytes per number.
    pub fn size(self) -> usize {
        match self {
            Precision::F32 => 4,
            Precision::F16 | Precision::Bf16 => 2,
        }
    }
}

/// A storage type. [`Number::widen`] is exact for all of them.
pub(crate) trait Number: Pod + Send + Sync {
    const FORMAT: Precision;

    /// Reads 16 numbers, as f32, into registers.
    fn widen<I: Isa>(numbers: &[Self; WIDTH]) -> I::Vector;

    /// Widens a panel into `room`. An f32 panel is returned unchanged. `L` is a multiple of 16.
    #[inline(always)]
    fn widen_panel<'a, I: Isa, const L: usize>(
        numbers: &'a [[Self; L]],
        room: &'a mut Vec<[f32; L]>,
    ) -> &'a [[f32; L]] {
        const { assert!(L.is_multiple_of(WIDTH)) };
        room.resize(numbers.len(), [0.0; L]);
        let widened = room.as_flattened_mut().as_chunks_mut::<WIDTH>().0;
        for (widened, numbers) in widened.iter_mut().zip(numbers.as_flattened().as_chunks().0) {
            I::store(Self::widen::<I>(numbers), widened);
        }
        room
    }

    /// Widens one number, in scalar code.
    fn widen_one(self) -> f32;

    /// Rounds to this type, to nearest, ties to even.
    fn narrow(values: &[f32], to: &mut [Self]);
}

impl Number for f32 {
    const FORMAT: Precision = Precision::F32;

    #[inline(always)]
    fn widen<I: Isa>(numbers: &[Self; WIDTH]) -> I::Vector {
        I::load(numbers)
    }

    #[inline(always)]
    fn widen_panel<'a, I: Isa, const L: usize>(
        numbers: &'a [[Self; L]],
        _: &'a mut Vec<[f32; L]>,
    ) -> &'a [[f32; L]] {
        numbers
    }

    #[inline(always)]
    fn widen_one(self) -> f32 {
        self
    }

    #[inline(always)]
    fn narrow(values: &[f32], to: &mut [Self]) {
        to.copy_from_slice(values);
    }
}

impl Number for f16 {
    const FORMAT: Precision = Precision::F16;

    #[inline(always)]
    fn widen<I: Isa>(numbers: &[Self; WIDTH]) -> I::Vector {
        I::widen_f16(numbers)
    }

    #[inline(always)]
    fn widen_one(self) -> f32 {
        widen_one_f16(self.to_bits())
    }

    fn narrow(values: &[f32], to: &mut [Self]) {
        to.convert_from_f32_slice(values);
    }
}

impl Number for bf16 {
    const FORMAT: Precision = Precision::Bf16;

    #[inline(always)]
    fn widen<I: Isa>(numbers: &[Self; WIDTH]) -> I::Vector {
        I::widen_bf16(numbers)
    }

    #[inline(always)]
    fn widen_one(self) -> f32 {
        widen_one_bf16(self)
    }

    fn narrow(values: &[f32], to: &mut [Self]) {
        to.convert_from_f32_slice(values);
    }
}

/// Calls a function that is generic over a [`Number`] with the type for a [`Precision`].
macro_rules! with_number {
    ($format:expr, $N:ident => $body:expr) => {
        match $format {
            $crate::kernels::Precision::F32 => {
                type $N = f32;
                $body
            }
            $crate::kernels::Precision::F16 => {
                type $N = half::f16;
                $body
            }
            $crate::kernels::Precision::Bf16 => {
                type $N = half::bf16;
                $body
            }
        }
    };
}
pub(crate) use with_number;
