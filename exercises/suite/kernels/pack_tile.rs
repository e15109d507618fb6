use super::pack_tile::{DEPTH, OUTPUTS, pack_tile};
use crate::support::{Case, Random};

type Tile = [[u32; OUTPUTS]; DEPTH / 2];

/// Words as they are in hexadecimal, which shows their halves.
fn shown(tile: &Tile) -> Vec<Vec<String>> {
    tile.iter().map(|row| row.iter().map(|word| format!("{word:08x}")).collect()).collect()
}

#[track_caller]
fn packs(rule: &str, weights: &[Vec<u16>], expected: Tile) {
    let hexadecimal: Vec<Vec<String>> = weights
        .iter()
        .map(|row| row.iter().map(|weight| format!("{weight:04x}")).collect())
        .collect();
    let case = Case::rule(rule).given("weights", hexadecimal);
    case.equal(shown(&expected), shown(&pack_tile(weights)));
}

#[test]
fn an_even_input_is_the_lower_half_of_a_word() {
    let mut expected = [[0; OUTPUTS]; DEPTH / 2];
    expected[0][0] = 0x0002_0001;
    let rule = "one output: input 0 is in the lower half of its word, input 1 in the upper half";
    packs(rule, &[vec![1, 2]], expected);
}

#[test]
fn the_next_pair_is_in_the_next_row() {
    let mut expected = [[0; OUTPUTS]; DEPTH / 2];
    for (i, row) in expected.iter_mut().enumerate() {
        let input = 2 * i as u32;
        row[0] = (input + 2) << 16 | (input + 1);
    }
    let rule = "a pair is two neighbours, 0 and 1, then 2 and 3: one row of the tile for each pair";
    packs(rule, &[(1..=DEPTH as u16).collect()], expected);
}

#[test]
fn the_outputs_are_side_by_side() {
    let weights: Vec<Vec<u16>> =
        (0..OUTPUTS as u16).map(|j| vec![0x10 * j, 0x10 * j + 1]).collect();
    let mut expected = [[0; OUTPUTS]; DEPTH / 2];
    for (j, word) in expected[0].iter_mut().enumerate() {
        *word = (0x10 * j as u32 + 1) << 16 | (0x10 * j as u32);
    }
    packs("word [i][j] is of output j", &weights, expected);
}

#[test]
fn what_the_matrix_lacks_is_zero() {
    let mut expected = [[0; OUTPUTS]; DEPTH / 2];
    (expected[0][0], expected[1][0]) = (0x0002_0001, 0x0000_0003);
    (expected[0][1], expected[1][1]) = (0x0005_0004, 0x0000_0006);
    let rule = "an odd input that the matrix lacks is 0, and so are the outputs that it lacks";
    packs(rule, &[vec![1, 2, 3], vec![4, 5, 6]], expected);
    packs("without outputs, all is 0", &[], [[0; OUTPUTS]; DEPTH / 2]);
    let none = vec![Vec::new(); OUTPUTS];
    packs("without inputs, all is 0", &none, [[0; OUTPUTS]; DEPTH / 2]);
}

#[test]
fn a_negative_weight_keeps_to_its_half() {
    // -1.0 and -2.0: the first bit is the sign.
    let mut expected = [[0; OUTPUTS]; DEPTH / 2];
    (expected[0][0], expected[1][0]) = (0x3f80_bf80, 0x0000_c000);
    let rule = "a bf16 with its sign bit set keeps to its half of the word";
    packs(rule, &[vec![0xbf80, 0x3f80, 0xc000]], expected);
}

#[test]
fn a_product_with_the_tile_is_the_product_with_the_matrix() {
    let mut random = Random::new(17);
    for (n_out, n_in) in [(OUTPUTS, DEPTH), (3, 5), (1, 1), (2, DEPTH - 1)] {
        let weights: Vec<Vec<u16>> =
            (0..n_out).map(|_| (0..n_in).map(|_| random.below(1 << 16) as u16).collect()).collect();
        let mut expected = [[0; OUTPUTS]; DEPTH / 2];
        for (j, row) in weights.iter().enumerate() {
            for (input, weight) in row.iter().enumerate() {
                expected[input / 2][j] |= u32::from(*weight) << (16 * (input % 2));
            }
        }
        packs("every weight has its place", &weights, expected);
    }
}
