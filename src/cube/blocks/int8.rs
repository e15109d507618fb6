//! Keys and values as 8-bit integers, four in a word of 32 bits, in groups of 16 numbers of one position that
//! share a scale.
//!
//! Of each head the words come first, of its keys `[head_dim / 4, 32]` and of its values `[32, head_dim / 4]`;
//! then the scales, in f32: of its keys `[head_dim / 16, 32]` and of its values `[32, head_dim / 16]`. Each position
//! is quantized alone, so what is stored does not depend on how a prompt was split into chunks.

use burn_cubecl::cubecl;
use cubecl::prelude::{Tensor as Buffer, *};

use super::SlotShape;
use crate::kernels::BLOCK;

/// Numbers of a position that share a scale.
const GROUP: usize = 16;
/// The words of a group.
const WORDS: usize = GROUP / 4;

impl SlotShape {
    /// The words of a position of a head.
    pub(in crate::cube) fn words(self) -> usize {
        self.head_dim.div_ceil(4)
    }

    /// The groups of a position of a head.
    pub(super) fn groups(self) -> usize {
        self.head_dim.div_ceil(GROUP)
    }
}

/// As [`append_rows`](super::append_rows): a unit takes a group of the keys and the same of the values.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn append_groups<T: Float>(
    keys: &Buffer<T>,
    values: &Buffer<T>,
    places: &Buffer<u32>,
    slots: &mut Buffer<u32>,
    groups: usize,
    #[comptime] shape: SlotShape,
    #[define(T)] _element: ElemType,
) {
    if ABSOLUTE_POS >= groups {
        terminate!();
    }
    let head_dim = comptime!(shape.head_dim);
    let n_kv_heads = comptime!(shape.n_kv_heads);
    let groups_of_head = comptime!(shape.groups());
    let words = comptime!(shape.words());
    let group = ABSOLUTE_POS % groups_of_head;
    let head = ABSOLUTE_POS / groups_of_head % n_kv_heads;
    let row = ABSOLUTE_POS / (groups_of_head * n_kv_heads);
    let place = places[row] as usize;
    let position = place % BLOCK;
    let key_head = (place / BLOCK * 2 * n_kv_heads + head) * comptime!(shape.head_numbers());
    let value_head = key_head + n_kv_heads * comptime!(shape.head_numbers());
    let scales = comptime!(BLOCK * shape.words());
    let from = (row * n_kv_heads + head) * head_dim + group * GROUP;
    let count = min(GROUP, head_dim - group * GROUP);

    let scale = scale_of(keys, from, count);
    slots[key_head + scales + group * BLOCK + position] = u32::reinterpret(scale);
    for word in 0..count.div_ceil(4) {
        let at = key_head + (group * WORDS + word) * BLOCK + position;
        slots[at] = word_of(keys, from + word * 4, min(4, count - word * 4), scale);
    }
    let scale = scale_of(values, from, count);
    slots[value_head + scales + position * groups_of_head + group] = u32::reinterpret(scale);
    for word in 0..count.div_ceil(4) {
        let at = value_head + position * words + group * WORDS + word;
        slots[at] = word_of(values, from + word * 4, min(4, count - word * 4), scale);
    }
}

/// What the integers of a group are multiplied by. Where a number is not finite, neither is the scale: without
/// their signs, the bits of numbers are in the order of the numbers, with infinity and NaN behind all others.
/// Compilers of shaders may take it that there is neither, but not of bits.
#[cube]
fn scale_of<T: Float>(numbers: &Buffer<T>, from: usize, count: usize) -> f32 {
    let mut greatest = 0u32;
    for i in from..from + count {
        let bits = u32::reinterpret(f32::cast_from(numbers[i]));
        greatest = max(greatest, bits & 0x7fff_ffffu32);
    }
    f32::reinterpret(greatest) / 127.0
}

/// Up to four numbers as integers, from the lowest bits on.
#[cube]
fn word_of<T: Float>(numbers: &Buffer<T>, from: usize, count: usize, scale: f32) -> u32 {
    let inverse = select(scale > 0.0, 1.0 / scale, 0.0);
    let mut word = 0u32;
    for i in 0..count {
        let integer = i32::cast_from((f32::cast_from(numbers[from + i]) * inverse).round());
        word |= (u32::reinterpret(integer) & 255) << (i as u32 * 8);
    }
    word
}

/// A number of a word, of which the first is in the lowest bits.
#[cube]
pub(in crate::cube) fn integer(word: u32, index: u32) -> f32 {
    let highest = i32::reinterpret(word << (24 - 8 * index));
    f32::cast_from(highest >> 24i32)
}

/// Which word of a head has number `i` of the key at a position, and where its scale is.
#[cube]
pub(in crate::cube) fn key_word(
    i: usize,
    position: usize,
    #[comptime] shape: SlotShape,
) -> (usize, usize) {
    let scales = comptime!(BLOCK * shape.words());
    (i / 4 * BLOCK + position, scales + i / GROUP * BLOCK + position)
}

/// As [`key_word`], of the value at a position.
#[cube]
pub(in crate::cube) fn value_word(
    i: usize,
    position: usize,
    #[comptime] shape: SlotShape,
) -> (usize, usize) {
    let scales = comptime!(BLOCK * shape.words());
    let word = position * comptime!(shape.words()) + i / 4;
    (word, scales + position * comptime!(shape.groups()) + i / GROUP)
}
