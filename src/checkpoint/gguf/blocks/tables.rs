//! Blocks of 4 bits that stand for one of 16 integers, which are not at equal distances.

use super::simple::{nibbles, set_group};
use super::{Unpacked, half_at};
use crate::kernels::E2M1_DOUBLED;

/// Denser near 0, where most weights are.
const NON_LINEAR: [i8; 16] = [
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
];

/// `scale: f16, places: [u8; 16]`
pub(super) fn iq4_nl(block: &[u8], to: &mut Unpacked) {
    set_group(half_at(block, 0), 0.0, to);
    look_up(&NON_LINEAR, &block[2..18], &mut to.integers);
}

/// `scale of scales: f16, high bits of scales: u16, low bits of scales: [u8; 4], places: [u8; 128]`: groups of 32,
/// with scales from -32 to 31.
pub(super) fn iq4_xs(block: &[u8], to: &mut Unpacked) {
    let (scale, high_bits) = (half_at(block, 0), u16::from_le_bytes([block[2], block[3]]));
    let groups = to.integers.chunks_mut(32).zip(block[8..136].chunks(16));
    for (group, (integers, places)) in groups.enumerate() {
        let low = block[4 + group / 2] >> (4 * (group % 2)) & 15;
        let high = (high_bits >> (2 * group) & 3) as u8;
        to.scales[group] = scale * (f32::from(low | high << 4) - 32.0);
        to.mins[group] = 0.0;
        look_up(&NON_LINEAR, places, integers);
    }
}

/// `exponent: u8, places: [u8; 16]`: the scale is a power of two, whose exponent has 127 added to it.
pub(super) fn mxfp4(block: &[u8], to: &mut Unpacked) {
    // Half of it, for integers that are doubled.
    let bits = match u32::from(block[0]) {
        exponent @ 0..2 => 0x0020_0000 << exponent,
        exponent => (exponent - 1) << 23,
    };
    set_group(f32::from_bits(bits), 0.0, to);
    look_up(&E2M1_DOUBLED, &block[1..17], &mut to.integers);
}

fn look_up(table: &[i8; 16], places: &[u8], integers: &mut [i8]) {
    for (i, place) in nibbles(places) {
        integers[i] = table[usize::from(place)];
    }
}
