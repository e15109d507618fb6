use super::gguf_block::{BYTES, WEIGHTS, block, row};
use crate::support::{Case, Random};

/// A block with this scale, as the bits of an f16, and these bytes of integers.
fn bytes(scale: u16, integers: [u8; 16]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes[..2].copy_from_slice(&scale.to_le_bytes());
    bytes[2..].copy_from_slice(&integers);
    bytes
}

const ONE: u16 = 0x3c00;
const QUARTER: u16 = 0x3400;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x} ")).collect()
}

#[track_caller]
fn check(rule: &str, bytes: [u8; BYTES], expected: [f32; WEIGHTS]) {
    let case = Case::rule(rule).given("bytes", hex(&bytes));
    case.close(&expected, &block(&bytes), 0.0);
}

#[test]
fn a_worked_example() {
    let mut integers = [0x88; 16];
    integers[..2].copy_from_slice(&[0x80, 0xb8]);
    let mut expected = [0.0; WEIGHTS];
    (expected[0], expected[17]) = (-2.0, 0.75);
    let rule = "(four bits - 8) times the scale: the lower bits of byte 0 are weight 0, and the upper ones of byte 1 weight 17, not its neighbour";
    check(rule, bytes(QUARTER, integers), expected);
}

#[test]
fn the_two_in_a_byte_are_16_weights_apart() {
    // Weight `i` is `i / 2 - 8`, the lower half in the lower bits.
    let integers = std::array::from_fn(|j| (j / 2) as u8 | ((j / 2 + 8) as u8) << 4);
    let expected = std::array::from_fn(|i| (i / 2) as f32 - 8.0);
    let rule = "the lower four bits of byte j are weight j, the upper ones weight j + 16";
    check(rule, bytes(ONE, integers), expected);
}

#[test]
fn every_integer_from_minus_8_to_7() {
    let integers = std::array::from_fn(|j| j as u8 | (15 - j as u8) << 4);
    let expected = std::array::from_fn(|i| {
        if i < 16 {
            i as f32 - 8.0
        } else {
            23.0 - i as f32
        }
    });
    check("four bits are 0 to 15, and stand for -8 to 7", bytes(ONE, integers), expected);
}

#[test]
fn the_scale_is_an_f16_with_its_lower_byte_first() {
    for (scale, value) in [
        (0x3555, 0.333_251_95),
        (0xb400, -0.25),
        (0x0001, 5.960_464_5e-8),
    ] {
        let rule = format!("the scale is the f16 {scale:#06x}, which is {value}");
        check(&rule, bytes(scale, [0x97; 16]), {
            std::array::from_fn(|i| if i < 16 { -value } else { value })
        });
    }
    check("with a scale of 0 all weights are 0", bytes(0, [0x1f; 16]), [0.0; WEIGHTS]);
}

/// Blocks that differ: the first integer of block `i` is `i % 8`, its scale a power of two.
fn tensor(blocks: usize) -> Vec<u8> {
    let block = |i: usize| {
        let mut integers = [0x88; 16];
        integers[0] = 0x80 | (i % 8 + 8) as u8;
        bytes(ONE + ((i % 3) << 10) as u16, integers)
    };
    (0..blocks).flat_map(block).collect()
}

#[track_caller]
fn check_row(rule: &str, blocks: usize, n_in: usize, index: usize) {
    let case = Case::rule(rule)
        .given("blocks of the tensor", blocks)
        .given("n_in", n_in)
        .given("row", index);
    let of_row = n_in / WEIGHTS;
    let mut expected = Vec::new();
    for i in index * of_row..(index + 1) * of_row {
        let mut weights = [0.0; WEIGHTS];
        weights[0] = (i % 8) as f32 * 2_f32.powi((i % 3) as i32);
        expected.extend(weights);
    }
    let found = row(&tensor(blocks), n_in, index);
    case.holds(found.is_some(), "the weights of the row", &found);
    case.close(&expected, &found.unwrap_or_default(), 0.0);
}

#[test]
fn a_row_is_its_blocks() {
    check_row("a row of 32 weights is one block of 18 bytes", 4, 32, 2);
    check_row("a row of 96 weights is three blocks", 9, 96, 0);
    check_row("rows follow each other: row 1 begins after the blocks of row 0", 9, 96, 1);
    check_row("the last row has all its weights", 9, 96, 2);
}

#[test]
fn a_row_that_is_not_there_is_none() {
    for (length, n_in, index) in [
        (9 * BYTES, 96, 3),
        (9 * BYTES - 1, 96, 2),
        (9 * BYTES - 1, 96, 3),
        (BYTES + 1, 64, 0),
        (0, 32, 0),
        (9 * BYTES, 96, usize::MAX),
        (9 * BYTES, 96, usize::MAX / (3 * BYTES)),
        (9 * BYTES, 32, usize::MAX / 9 + 1),
    ] {
        let case = Case::rule("if bytes of the row are missing, there is no row")
            .given("bytes of the tensor", length)
            .given("n_in", n_in)
            .given("row", index);
        let tensor = vec![0x88; length];
        case.equal(None, row(&tensor, n_in, index));
    }
}

#[test]
fn a_row_before_the_damage_is_there() {
    for (bytes, index) in [(9 * BYTES - 1, 1), (9 * BYTES - 1, 0), (9 * BYTES + 5, 2)] {
        let case = Case::rule("a row that has all its bytes is there, whatever is at the end")
            .given("bytes of the tensor, whose rows have 54", bytes)
            .given("row", index);
        let mut tensor = tensor(10);
        tensor.truncate(bytes);
        let found = row(&tensor, 96, index).map(|weights| weights.len());
        case.equal(Some(96), found);
    }
}

#[test]
fn any_block() {
    let mut random = Random::new(12);
    for _ in 0..20 {
        let integers: [u8; 16] = std::array::from_fn(|_| random.below(256) as u8);
        let nibble = |i: usize| integers[i % 16] >> (4 * (i / 16)) & 15;
        let expected = std::array::from_fn(|i| 0.25 * (f32::from(nibble(i)) - 8.0));
        check("(four bits - 8) times the scale", bytes(QUARTER, integers), expected);
    }
}
