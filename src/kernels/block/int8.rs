//! Keys and values as 8-bit integers.
//!
//! Each position is quantized alone, so what is stored does not depend on how a prompt was split
//! into chunks.

use bytemuck::{Pod, Zeroable};
use half::f16;

use super::{BLOCK, VALUE_LANES};
use crate::kernels::microkernel::vectors;
use crate::kernels::number::Number;
use crate::kernels::quantized::{Quantized, Rounding, quantize};
use crate::kernels::simd::{Isa, WIDTH};

/// Numbers of a position that share a scale.
const GROUP: usize = VALUE_LANES;

/// A group of the keys of 32 positions.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Int8Keys {
    scales: [f16; BLOCK],
    integers: [[i8; BLOCK]; GROUP],
}

/// A panel of the values of 32 positions.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Int8Values {
    scales: [f16; BLOCK],
    integers: [[i8; GROUP]; BLOCK],
}

impl Int8Keys {
    /// Quantizes up to 16 numbers of one position.
    pub fn write(&mut self, position: usize, numbers: &[f32]) {
        let (scale, integers) = quantize_some(numbers);
        self.scales[position] = scale;
        for (row, integer) in self.integers.iter_mut().zip(integers) {
            row[position] = integer;
        }
    }
}

impl Int8Values {
    /// Quantizes up to 16 numbers of one position.
    pub fn write(&mut self, position: usize, numbers: &[f32]) {
        (self.scales[position], self.integers[position]) = quantize_some(numbers);
    }
}

fn quantize_some(numbers: &[f32]) -> (f16, [i8; GROUP]) {
    let mut group = [0.0; GROUP];
    group[..numbers.len()].copy_from_slice(numbers);
    quantize(&group, Quantized::Int8, Rounding::Nearest)
}

/// Dequantizes the keys of one head, `[head_dim][32]`.
#[inline(always)]
pub fn widen_keys<'a, I: Isa>(
    groups: &[Int8Keys],
    head_dim: usize,
    room: &'a mut Vec<[f32; BLOCK]>,
) -> &'a [[f32; BLOCK]] {
    room.resize(head_dim, [0.0; BLOCK]);
    for (group, room) in groups.iter().zip(room.chunks_mut(GROUP)) {
        let scales = vectors(&group.scales);
        for (keys, integers) in room.iter_mut().zip(&group.integers) {
            let (keys, _) = keys.as_chunks_mut::<WIDTH>();
            for ((keys, integers), scales) in keys.iter_mut().zip(vectors(integers)).zip(scales) {
                I::store(scaled::<I>(I::widen_f16(scales), integers), keys);
            }
        }
    }
    room
}

/// Dequantizes a panel of values, `[32][16]`.
#[inline(always)]
pub fn widen_values<'a, I: Isa>(
    panel: &Int8Values,
    room: &'a mut Vec<[f32; VALUE_LANES]>,
) -> &'a [[f32; VALUE_LANES]] {
    room.resize(BLOCK, [0.0; VALUE_LANES]);
    for ((values, integers), scale) in room.iter_mut().zip(&panel.integers).zip(&panel.scales) {
        I::store(scaled::<I>(I::splat(scale.widen_one()), integers), values);
    }
    room
}

/// `scale * integer`
#[inline(always)]
fn scaled<I: Isa>(scales: I::Vector, integers: &[i8; WIDTH]) -> I::Vector {
    I::mul(scales, I::widen_i8(integers))
}
