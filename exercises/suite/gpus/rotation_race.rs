use super::rotation_race::{Place, cubes, rotate};
use crate::support::{Case, Random};

/// The heads, rotated as the rule says.
fn rotated(x: &[f32], cos: &[f32], sin: &[f32]) -> Vec<f32> {
    let half = cos.len();
    let mut out = x.to_vec();
    for (head, out) in x.chunks(2 * half).zip(out.chunks_mut(2 * half)) {
        for i in 0..half {
            out[i] = head[i] * cos[i] - head[i + half] * sin[i];
            out[i + half] = head[i + half] * cos[i] + head[i] * sin[i];
        }
    }
    out
}

/// Heads and angles that are all different.
fn numbers(heads: usize, head_dim: usize, seed: u64) -> [Vec<f32>; 3] {
    let mut random = Random::new(seed);
    let x = (0..heads * head_dim).map(|_| random.float(1.0, 2.0)).collect();
    let angles: Vec<f32> = (0..head_dim / 2).map(|_| random.float(0.2, 1.2)).collect();
    let of = |function: fn(f32) -> f32| angles.iter().map(|angle| function(*angle)).collect();
    [x, of(f32::cos), of(f32::sin)]
}

/// The places of a launch, one after the other.
fn places(cubes: usize, units: usize) -> Vec<Place> {
    let in_cube = |cube| (0..units).map(move |unit| Place { cube, unit, units });
    (0..cubes).flat_map(in_cube).collect()
}

#[track_caller]
fn check(rule: &str, heads: usize, head_dim: usize, units: usize, order: &str) {
    let [x, cos, sin] = numbers(heads, head_dim, 3);
    let case = Case::rule(rule)
        .given("heads", heads)
        .given("head_dim", head_dim)
        .given("units of a cube", units)
        .given("order of the units", order);
    let mut places = places(cubes(heads, head_dim, units), units);
    match order {
        "from the last to the first" => places.reverse(),
        "the odd ones first" => places.sort_by_key(|place| place.unit % 2 == 0),
        _ => {}
    }
    let mut found = x.clone();
    for place in places {
        rotate(place, &mut found, &cos, &sin);
    }
    case.close(&rotated(&x, &cos, &sin), &found, 1e-6);
}

#[test]
fn one_pair_at_the_angle_of_a_quarter() {
    let case = Case::rule("(3, 4) by a quarter of a turn is (-4, 3)").given("x", [3.0, 4.0]);
    let mut x = [3.0, 4.0];
    for place in places(cubes(1, 2, 1), 1) {
        rotate(place, &mut x, &[0.0], &[1.0]);
    }
    case.equal([-4.0, 3.0], x);
}

#[test]
fn without_an_angle_nothing_changes() {
    let case = Case::rule("the angle 0 changes nothing").given("x", [3.0, 4.0, 5.0, 6.0]);
    let mut x = [3.0, 4.0, 5.0, 6.0];
    for place in places(cubes(1, 4, 4), 4) {
        rotate(place, &mut x, &[1.0; 2], &[0.0; 2]);
    }
    case.equal([3.0, 4.0, 5.0, 6.0], x);
}

#[test]
fn units_may_run_in_any_order() {
    for order in [
        "from the first to the last",
        "from the last to the first",
        "the odd ones first",
    ] {
        let rule =
            "each pair is rotated once, and the order in which the units run changes nothing";
        check(rule, 1, 8, 4, order);
        check(rule, 4, 8, 32, order);
        check(rule, 8, 64, 64, order);
    }
}

#[test]
fn every_number_is_rotated() {
    for (heads, head_dim, units) in [
        (9, 64, 256),
        (3, 8, 32),
        (1, 2, 64),
        (5, 6, 7),
        (3, 2, 2),
        (1, 64, 33),
        (2, 64, 31),
    ] {
        let rule = "the last cube may have units that are left over, and no number is left out";
        check(rule, heads, head_dim, units, "from the first to the last");
        check(rule, heads, head_dim, units, "from the last to the first");
    }
}

#[test]
fn a_unit_rotates_one_pair_at_most() {
    let (heads, head_dim, units) = (3, 8, 5);
    let half = head_dim / 2;
    let [x, cos, sin] = numbers(heads, head_dim, 4);
    let expected = rotated(&x, &cos, &sin);
    let mut writers = vec![0; x.len()];
    for place in places(cubes(heads, head_dim, units) + 2, units) {
        let case =
            Case::rule("a unit writes both numbers of one pair, or none").given("place", place);
        let mut found = x.clone();
        rotate(place, &mut found, &cos, &sin);
        let written: Vec<usize> = (0..x.len()).filter(|i| found[*i] != x[*i]).collect();
        let is_pair = match written.as_slice() {
            [] => true,
            [first, second] => second - first == half && first % head_dim < half,
            _ => false,
        };
        case.holds(is_pair, "the numbers i and i + half of one head, or none", &written);
        for i in written {
            writers[i] += 1;
            case.close(&expected[i..=i], &found[i..=i], 1e-6);
        }
    }
    let case = Case::rule("each number is written by one unit: so many write each number");
    case.equal(vec![1; x.len()], writers);
}

#[test]
fn no_more_cubes_than_are_needed() {
    for (heads, head_dim, units) in [(8, 64, 256), (9, 64, 256), (1, 2, 64), (4, 8, 4)] {
        let case = Case::rule("enough cubes, and no more than one unit for each number takes")
            .given("heads", heads)
            .given("head_dim", head_dim)
            .given("units", units);
        let found = cubes(heads, head_dim, units);
        let pairs = heads * head_dim / 2;
        let (least, most) = (pairs.div_ceil(units), (2 * pairs).div_ceil(units));
        case.holds((least..=most).contains(&found), &format!("{least} to {most}"), found);
    }
}
