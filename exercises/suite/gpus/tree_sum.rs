use super::tree_sum::{LANES, fold, gather, sum};
use crate::support::{Case, Random};

/// What shared memory holds before anybody has written to it.
const GARBAGE: f32 = 1e9;
/// With 1 more it is rounded to itself.
const BIG: f32 = 16_777_216.0;

/// The sum as the rules define it.
fn reference(x: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    for (i, number) in x.iter().enumerate() {
        lanes[i % LANES] += number;
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

fn case(rule: &str, unit: usize, units: usize) -> Case {
    Case::rule(rule).given("unit", unit).given("units", units)
}

#[test]
fn a_lane_takes_every_eighth_number() {
    let x: Vec<f32> = (0..19).map(|i| i as f32).collect();
    let mut lanes = [GARBAGE; LANES];
    let case = case("lane l is x[l] + x[l + 8] + x[l + 16] + ...", 0, 1).given("x", &x);
    gather(0, 1, &x, &mut lanes);
    case.equal([24.0, 27.0, 30.0, 14.0, 16.0, 18.0, 20.0, 22.0], lanes);
}

#[test]
fn a_unit_writes_its_own_lanes_only() {
    for (unit, units, own) in [
        (0, 8, vec![0]),
        (7, 8, vec![7]),
        (1, 3, vec![1, 4, 7]),
        (2, 5, vec![2, 7]),
        (0, 1, vec![0, 1, 2, 3, 4, 5, 6, 7]),
        (9, 32, vec![]),
    ] {
        let x = [1.0; 20];
        let case = case("the lanes that the unit has written", unit, units);
        let mut lanes = [GARBAGE; LANES];
        gather(unit, units, &x, &mut lanes);
        let written: Vec<usize> = (0..LANES).filter(|lane| lanes[*lane] != GARBAGE).collect();
        case.equal(own, written);
    }
}

#[test]
fn a_lane_without_numbers_is_zero() {
    for count in [0, 1, 5] {
        let x = vec![1.0; count];
        let rule = "shared memory holds anything before it is written: a lane begins at 0";
        let case = case(rule, 0, 1).given("x", &x);
        let mut lanes = [GARBAGE; LANES];
        gather(0, 1, &x, &mut lanes);
        let expected: [f32; LANES] = std::array::from_fn(|lane| f32::from(lane < count));
        case.equal(expected, lanes);
    }
}

#[test]
fn a_lane_is_summed_from_the_front() {
    for (numbers, expected) in [([BIG, 1.0, -BIG, 1.0], 1.0), ([1.0, BIG, -BIG, 0.5], 0.5)] {
        let x: Vec<f32> = numbers.iter().flat_map(|number| [*number; LANES]).collect();
        let case = case("from the front, in f32: 2^24 + 1 is rounded to 2^24", 0, 2)
            .given("each lane adds", numbers);
        let mut lanes = [GARBAGE; LANES];
        gather(0, 2, &x, &mut lanes);
        gather(1, 2, &x, &mut lanes);
        case.equal([expected; LANES], lanes);
    }
}

#[test]
fn a_fold_adds_the_upper_half() {
    let before = [1.0, 2.0, 3.0, 4.0, 50.0, 60.0, 70.0, 80.0];
    for (unit, units, half, expected) in [
        (0, 1, 4, [51.0, 62.0, 73.0, 84.0, 50.0, 60.0, 70.0, 80.0]),
        (1, 3, 4, [1.0, 62.0, 3.0, 4.0, 50.0, 60.0, 70.0, 80.0]),
        (0, 3, 4, [51.0, 2.0, 3.0, 84.0, 50.0, 60.0, 70.0, 80.0]),
        (1, 2, 2, [1.0, 6.0, 3.0, 4.0, 50.0, 60.0, 70.0, 80.0]),
        (0, 8, 1, [3.0, 2.0, 3.0, 4.0, 50.0, 60.0, 70.0, 80.0]),
        (5, 8, 4, before),
        (1, 8, 1, before),
    ] {
        let case =
            case("lane l + half is added to lane l, for the unit's own l below half", unit, units)
                .given("half", half)
                .given("lanes", before);
        let mut lanes = before;
        fold(unit, units, half, &mut lanes);
        case.equal(expected, lanes);
    }
}

#[test]
fn units_may_run_in_any_order() {
    let mut random = Random::new(5);
    for units in [1, 2, 3, 5, 8, 32] {
        let x: Vec<f32> = (0..77).map(|_| random.float(-1.0, 1.0)).collect();
        let mut lanes = [GARBAGE; LANES];
        let case = Case::rule(
            "between two barriers the units may run in any order: the bits are the same",
        )
        .given("units", units)
        .given("order", "from the last to the first");
        for unit in (0..units).rev() {
            gather(unit, units, &x, &mut lanes);
        }
        for half in [4, 2, 1] {
            for unit in (0..units).rev() {
                fold(unit, units, half, &mut lanes);
            }
        }
        case.equal(reference(&x).to_bits(), lanes[0].to_bits());
    }
}

#[test]
fn the_sum_has_the_same_bits_for_any_number_of_units() {
    let mut random = Random::new(6);
    for count in [1, 7, 8, 9, 31, 32, 33, 192, 1000] {
        let x: Vec<f32> = (0..count).map(|_| random.float(-1.0, 1.0)).collect();
        for units in [1, 2, 3, 4, 7, 8, 9, 256] {
            let case = Case::rule(
                "the order of the additions depends on the numbers only (these are bits)",
            )
            .given("numbers", count)
            .given("units", units);
            case.equal(reference(&x).to_bits(), sum(&x, units).to_bits());
        }
    }
}

#[test]
fn the_sum_of_nothing_is_zero() {
    for units in [1, 3, 8, 256] {
        // -0.0 is 0 too.
        let case = Case::rule("without numbers the sum is 0").given("units", units);
        case.equal(0.0, sum(&[], units));
    }
}

#[test]
fn the_lanes_are_added_in_a_tree() {
    for (x, expected) in [
        ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 36.0),
        // Lanes 0 and 4 meet first, then 2 and 6, then 1, 3, 5 and 7.
        ([BIG, 1.0, 0.0, 0.0, -BIG, 0.0, 0.0, 0.0], 1.0),
        ([-BIG, 0.0, 1.0, 0.0, 0.0, 0.0, BIG, 0.0], 0.0),
        ([BIG, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], BIG + 2.0),
    ] {
        let case = Case::rule("by halves: 4, 2, 1").given("x", x);
        case.equal(expected, sum(&x, 4));
    }
}
