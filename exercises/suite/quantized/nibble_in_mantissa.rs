use super::nibble_in_mantissa::{sixteen_plus, sum};
use crate::support::{Case, Random};

fn case(rule: &str, word: u32) -> Case {
    Case::rule(rule).given("word", format!("{word:#010x}"))
}

fn shown(number: f32) -> String {
    format!("{number:e}, bits {:#010x}", number.to_bits())
}

#[test]
fn a_worked_example() {
    for (i, expected) in [(0, 16.0), (1, 31.0), (2, 24.0), (3, 16.0)] {
        let case = case("16 plus the nibble", 0x8f0).given("i", i);
        case.equal(expected, sixteen_plus(0x8f0, i));
    }
}

#[test]
fn every_nibble_at_every_place() {
    for i in 0..8 {
        for nibble in 0..16_u32 {
            let others = 0x9999_9999 & !(15 << (4 * i));
            let word = others | nibble << (4 * i);
            let case = case("16 plus the nibble, whatever its neighbours are", word).given("i", i);
            case.equal(16.0 + nibble as f32, sixteen_plus(word, i));
        }
    }
}

fn word(integers: [i8; 8]) -> u32 {
    (0..8).fold(0, |word, i| word | ((integers[i] + 8) as u32) << (4 * i))
}

#[track_caller]
fn check(rule: &str, integers: [i8; 8], x: [f32; 8], expected: f32) {
    let case = Case::rule(rule)
        .given("integers", integers)
        .given("word", format!("{:#010x}", word(integers)))
        .given("x", x);
    case.equal(shown(expected), shown(sum(word(integers), &x)));
}

#[test]
fn a_sum_of_small_numbers() {
    let x = [1.0, 2.0, -1.0, 0.5, 0.0, 0.0, 0.0, 0.0];
    check("the sum of integer * x", [4, -8, 1, 3, 0, 0, 0, 0], x, -11.5);
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    check("the sum of integer * x", [-8, -5, -2, 0, 1, 3, 5, 7], x, 90.0);
    check("24 is taken off for each x: integers of 0 give 0", [0; 8], [0.25; 8], 0.0);
}

#[test]
fn the_offset_is_in_the_sum_while_it_grows() {
    // 25 * 2^24 needs no more bits than 2^24, but the next f32 after it is 32 away.
    let x = [16_777_216.0, 0.1, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0];
    let mut expected = 0.0_f32;
    for x in x {
        expected = 25.0_f32.mul_add(x, expected);
    }
    let x_sum: f32 = x.iter().sum();
    let rule = "the offset is taken off in the end: the bits show this order";
    check(rule, [1; 8], x, (-24.0_f32).mul_add(x_sum, expected));
}

#[test]
fn any_numbers() {
    let mut random = Random::new(6);
    for _ in 0..20 {
        let integers: [i8; 8] = std::array::from_fn(|_| random.below(16) as i8 - 8);
        let x: [f32; 8] = std::array::from_fn(|_| random.float(-3.0, 3.0));
        let (mut expected, mut x_sum) = (0.0_f32, 0.0_f32);
        for (integer, x) in integers.iter().zip(x) {
            expected = (f32::from(*integer) + 24.0).mul_add(x, expected);
            x_sum += x;
        }
        let rule = "the bits show the order that is described";
        check(rule, integers, x, (-24.0_f32).mul_add(x_sum, expected));
    }
}
