//! Blocks of 256 numbers, whose groups have quantized scales.

use super::{Unpacked, half_at};

/// `scale of scales: f16, scale of mins: f16, scales and mins: [u8; 12], low bits: [u8; 128]`:
/// integers from 0 to 15 in groups of 32.
pub(super) fn q4_k(block: &[u8], to: &mut Unpacked) {
    set_groups(block, to);
    low_bits(&block[16..144], to);
}

/// As [`q4_k`], with `fifth bits: [u8; 32]` before the low bits: integers from 0 to 31.
pub(super) fn q5_k(block: &[u8], to: &mut Unpacked) {
    set_groups(block, to);
    low_bits(&block[48..176], to);
    // Bit `g` of byte `i` belongs to number `i` of group `g`.
    let fifth_bits = &block[16..48];
    for (group, integers) in to.integers.chunks_mut(32).enumerate() {
        for (integer, bits) in integers.iter_mut().zip(fifth_bits) {
            *integer |= ((bits >> group & 1) << 4) as i8;
        }
    }
}

/// `low bits: [u8; 128], high bits: [u8; 64], scales: [i8; 16], scale of scales: f16`: integers
/// from -32 to 31 in groups of 16.
pub(super) fn q6_k(block: &[u8], to: &mut Unpacked) {
    let scale = half_at(block, 208);
    for (group, byte) in block[192..208].iter().enumerate() {
        to.scales[group] = scale * f32::from(*byte as i8);
        to.mins[group] = 0.0;
    }
    // In each half of the block, quarters 0 and 1 are in the lower halves of 64 bytes, quarters 2
    // and 3 in the upper halves. A byte of the high bits has two for each quarter.
    for (half, integers) in to.integers.chunks_mut(128).enumerate() {
        let low_bits = &block[64 * half..][..64];
        let high_bits = &block[128 + 32 * half..][..32];
        for (quarter, integers) in integers.chunks_mut(32).enumerate() {
            let low_bits = &low_bits[32 * (quarter % 2)..];
            for (i, integer) in integers.iter_mut().enumerate() {
                let low = low_bits[i] >> (4 * (quarter / 2)) & 15;
                let high = high_bits[i] >> (2 * quarter) & 3;
                *integer = (low | high << 4) as i8 - 32;
            }
        }
    }
}

/// `scales and mins: [u8; 16], bits: [u8; 64], scale of scales: f16, scale of mins: f16`: integers from 0 to 3 in
/// groups of 16.
pub(super) fn q2_k(block: &[u8], to: &mut Unpacked) {
    let (scale, scale_of_mins) = (half_at(block, 80), half_at(block, 82));
    for (group, byte) in block[..16].iter().enumerate() {
        to.scales[group] = scale * f32::from(byte & 15);
        to.mins[group] = scale_of_mins * f32::from(byte >> 4);
    }
    two_bits(&block[16..80], to);
}

/// `third bits: [u8; 32], low bits: [u8; 64], scales: [u8; 12], scale of scales: f16`: integers from -4 to 3 in
/// groups of 16.
///
/// The scales are integers of 6 bits, from -32 to 31. The lower 4 bits of the first eight are the lower halves of
/// bytes 0 to 7, and those of the last eight the upper halves. A byte of the last four has two upper bits for each
/// quarter of the scales.
pub(super) fn q3_k(block: &[u8], to: &mut Unpacked) {
    let (scale, bytes) = (half_at(block, 108), &block[96..108]);
    for group in 0..16 {
        let low = bytes[group % 8] >> (4 * (group / 8)) & 15;
        let high = bytes[8 + group % 4] >> (2 * (group / 4)) & 3;
        to.scales[group] = scale * (f32::from(low | high << 4) - 32.0);
        to.mins[group] = 0.0;
    }
    two_bits(&block[32..96], to);
    // Bit `g` of byte `i` belongs to number `i` of the `g`-th 32.
    for (part, integers) in to.integers.chunks_mut(32).enumerate() {
        for (integer, bits) in integers.iter_mut().zip(&block[..32]) {
            *integer += ((bits >> part & 1) << 2) as i8 - 4;
        }
    }
}

/// In each half of a block, 32 bytes hold 2 bits of four times 32 numbers, the first in the lowest.
fn two_bits(bytes: &[u8], to: &mut Unpacked) {
    for (integers, bytes) in to.integers.chunks_mut(128).zip(bytes.chunks(32)) {
        for (quarter, integers) in integers.chunks_mut(32).enumerate() {
            for (integer, byte) in integers.iter_mut().zip(bytes) {
                *integer = (byte >> (2 * quarter) & 3) as i8;
            }
        }
    }
}

/// The scales and minima of Q4_K and Q5_K.
///
/// They are 6-bit integers in 12 bytes. The first four scales, and the first four minima, are the
/// lower 6 bits of bytes 0 to 3, and of 4 to 7. The upper 2 bits of these bytes are the upper bits
/// of the last four, whose lower bits are the halves of bytes 8 to 11.
fn set_groups(block: &[u8], to: &mut Unpacked) {
    let (scale, scale_of_mins) = (half_at(block, 0), half_at(block, 2));
    let bytes = &block[4..16];
    for i in 0..4 {
        let (of_scale, of_min, rest) = (bytes[i], bytes[i + 4], bytes[i + 8]);
        to.scales[i] = scale * f32::from(of_scale & 63);
        to.mins[i] = scale_of_mins * f32::from(of_min & 63);
        to.scales[i + 4] = scale * f32::from(rest & 15 | of_scale >> 6 << 4);
        to.mins[i + 4] = scale_of_mins * f32::from(rest >> 4 | of_min >> 6 << 4);
    }
}

/// 32 bytes hold one group in their lower halves, and the next in their upper halves.
fn low_bits(bytes: &[u8], to: &mut Unpacked) {
    for (integers, bytes) in to.integers.chunks_mut(64).zip(bytes.chunks(32)) {
        let (first, second) = integers.split_at_mut(32);
        for ((first, second), byte) in first.iter_mut().zip(second).zip(bytes) {
            (*first, *second) = ((byte & 15) as i8, (byte >> 4) as i8);
        }
    }
}
