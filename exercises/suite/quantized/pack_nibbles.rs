use super::pack_nibbles::{pack, unpack};
use crate::support::{Case, Random};

fn hex(words: &[u32]) -> Vec<String> {
    words.iter().map(|word| format!("{word:#x}")).collect()
}

fn check_pack(rule: &str, integers: &[i8], expected: &[u32]) {
    let case = Case::rule(rule).given("integers", integers);
    case.equal(hex(expected), hex(&pack(integers)));
}

fn check_unpack(rule: &str, words: &[u32], count: usize, expected: &[i8]) {
    let case = Case::rule(rule).given("words", hex(words)).given("count", count);
    case.equal(expected.to_vec(), unpack(words, count));
}

#[test]
fn a_nibble_is_the_integer_plus_8() {
    let rule = "-8 is stored as 0, 0 as 8, 7 as 15";
    check_pack(rule, &[-8], &[0]);
    check_pack(rule, &[0], &[8]);
    check_pack(rule, &[7], &[0xf]);
    check_pack(rule, &[-1], &[7]);
}

#[test]
fn the_first_integer_is_in_the_lowest_bits() {
    check_pack("the first integer takes the lowest 4 bits", &[-8, 7, 0], &[0x8f0]);
    let integers = [-7, -6, -5, -4, -3, -2, -1, 0];
    check_pack("the eighth takes the highest 4 bits", &integers, &[0x8765_4321]);
}

#[test]
fn the_ninth_integer_begins_a_word() {
    let integers = [7, 7, 7, 7, 7, 7, 7, 7, -7, -6];
    check_pack("there are eight in a word", &integers, &[0xffff_ffff, 0x21]);
}

#[test]
fn no_integers_are_no_words() {
    check_pack("without integers there are no words", &[], &[]);
    check_unpack("`count` is how many are wanted: here none", &[0x1234], 0, &[]);
}

#[test]
fn nibbles_become_integers_again() {
    check_unpack("a nibble is the integer plus 8", &[0x8f0], 3, &[-8, 7, 0]);
    let expected = [-7, -6, -5, -4, -3, -2, -1, 0];
    check_unpack("the lowest bits are the first", &[0x8765_4321], 8, &expected);
    let expected = [7, 7, 7, 7, 7, 7, 7, 7, -7, -6];
    check_unpack("the ninth is in the second word", &[0xffff_ffff, 0x21], 10, &expected);
}

#[test]
fn as_many_as_are_asked_for() {
    check_unpack("the first `count` integers, and no more", &[0x8f0, 0x1], 5, &[-8, 7, 0, -8, -8]);
    check_unpack("the first `count` integers, and no more", &[0xabcd_ef01], 1, &[-7]);
}

#[test]
fn what_was_packed_is_unpacked() {
    let mut random = Random::new(2);
    for count in [1_usize, 7, 8, 9, 16, 32, 33] {
        let integers: Vec<i8> = (0..count).map(|_| random.below(16) as i8 - 8).collect();
        let case = Case::rule("unpacked, it is what was packed").given("integers", &integers);
        let words = pack(&integers);
        case.equal(count.div_ceil(8), words.len());
        case.equal(&integers, &unpack(&words, count));
    }
}
