//! Blocks of 32 numbers with one scale.
//!
//! Byte `i` of the low bits holds those of number `i` in its lower half, and those of number
//! `i + 16` in its upper half.

use super::{Unpacked, half_at};

/// `scale: f16, low bits: [u8; 16]`: integers from -8 to 7.
pub(super) fn q4_0(block: &[u8], to: &mut Unpacked) {
    set_group(half_at(block, 0), 0.0, to);
    for (i, low) in nibbles(&block[2..18]) {
        to.integers[i] = low as i8 - 8;
    }
}

/// `scale: f16, least: f16, low bits: [u8; 16]`: integers from 0 to 15 above the least number.
pub(super) fn q4_1(block: &[u8], to: &mut Unpacked) {
    set_group(half_at(block, 0), -half_at(block, 2), to);
    for (i, low) in nibbles(&block[4..20]) {
        to.integers[i] = low as i8;
    }
}

/// `scale: f16, fifth bits: u32, low bits: [u8; 16]`: integers from -16 to 15.
pub(super) fn q5_0(block: &[u8], to: &mut Unpacked) {
    set_group(half_at(block, 0), 0.0, to);
    for (i, low) in nibbles(&block[6..22]) {
        to.integers[i] = (low | fifth_bit(&block[2..6], i)) as i8 - 16;
    }
}

/// `scale: f16, least: f16, fifth bits: u32, low bits: [u8; 16]`: integers from 0 to 31 above the
/// least number.
pub(super) fn q5_1(block: &[u8], to: &mut Unpacked) {
    set_group(half_at(block, 0), -half_at(block, 2), to);
    for (i, low) in nibbles(&block[8..24]) {
        to.integers[i] = (low | fifth_bit(&block[4..8], i)) as i8;
    }
}

/// `scale: f16, integers: [i8; 32]`.
pub(super) fn q8_0(block: &[u8], to: &mut Unpacked) {
    set_group(half_at(block, 0), 0.0, to);
    for (integer, byte) in to.integers.iter_mut().zip(&block[2..34]) {
        *integer = *byte as i8;
    }
}

pub(super) fn set_group(scale: f32, min: f32, to: &mut Unpacked) {
    (to.scales[0], to.mins[0]) = (scale, min);
}

/// The lower and the upper half of each byte, with the number that it belongs to.
pub(super) fn nibbles(bytes: &[u8]) -> impl Iterator<Item = (usize, u8)> {
    let half = bytes.len();
    bytes
        .iter()
        .enumerate()
        .flat_map(move |(i, byte)| [(i, byte & 15), (i + half, byte >> 4)])
}

/// Bit `i`, moved to the place of the fifth bit.
fn fifth_bit(bits: &[u8], i: usize) -> u8 {
    (bits[i / 8] >> (i % 8) & 1) << 4
}
