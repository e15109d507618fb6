use super::launch_grid::{Place, cubes, launch, scale};
use crate::support::{Case, Random};

/// What stands where nothing was written.
const UNTOUCHED: f32 = -1.0;

/// All places of a launch.
fn places(cubes: usize, units: usize) -> Vec<Place> {
    let in_cube = |cube| (0..units).map(move |unit| Place { cube, unit, cubes, units });
    (0..cubes).flat_map(in_cube).collect()
}

/// Numbers from 1 upwards, so that each says where it comes from.
fn numbers(count: usize) -> Vec<f32> {
    (1..=count).map(|number| number as f32).collect()
}

/// The indices that one unit writes, of `count` numbers.
fn written(place: Place, count: usize) -> Vec<usize> {
    let mut out = vec![UNTOUCHED; count];
    scale(place, &numbers(count), &[1.0], &mut out);
    (0..count).filter(|i| out[*i] != UNTOUCHED).collect()
}

#[test]
fn enough_cubes_and_no_more() {
    for (numbers, units, expected) in [
        (1, 64, 1),
        (63, 64, 1),
        (64, 64, 1),
        (65, 64, 2),
        (128, 64, 2),
        (129, 64, 3),
        (7, 1, 7),
    ] {
        let case = Case::rule("as few cubes as have a unit for each number")
            .given("numbers", numbers)
            .given("units", units);
        case.equal(expected, cubes(numbers, units, 65_535));
    }
}

#[test]
fn no_more_cubes_than_the_device_takes() {
    for (numbers, most, expected) in [(1000, 10, 10), (640, 10, 10), (576, 10, 9), (0, 10, 0)] {
        let case = Case::rule("at most `most` cubes, and none without numbers")
            .given("numbers", numbers)
            .given("units", 64)
            .given("most", most);
        case.equal(expected, cubes(numbers, 64, most));
    }
}

#[test]
fn a_launch_runs_each_unit_once() {
    for (cubes, units) in [(1, 1), (2, 3), (3, 2), (0, 4), (5, 1)] {
        let case = Case::rule("the kernel runs once for each unit, cube by cube")
            .given("cubes", cubes)
            .given("units", units);
        let mut found = Vec::new();
        launch(cubes, units, &mut |place| found.push(place));
        case.equal(places(cubes, units), found);
    }
}

#[test]
fn a_worked_example() {
    let expected = [
        vec![0, 6],
        vec![1, 7],
        vec![2, 8],
        vec![3, 9],
        vec![4],
        vec![5],
    ];
    for (place, expected) in places(2, 3).into_iter().zip(expected) {
        let case =
            Case::rule("the indices that the unit writes, of 10 numbers").given("place", place);
        case.equal(expected, written(place, 10));
    }
}

#[test]
fn a_unit_writes_its_own_numbers_only() {
    for (cubes, units, count) in [(3, 4, 12), (1, 8, 20), (4, 2, 5), (2, 32, 33), (3, 5, 31)] {
        for (index, place) in places(cubes, units).into_iter().enumerate() {
            let rule = "from its own index, in steps of all units of the launch, as long as there is a number";
            let case = Case::rule(rule).given("place", place).given("numbers", count);
            let expected: Vec<usize> = (index..count).step_by(cubes * units).collect();
            case.equal(expected, written(place, count));
        }
    }
}

#[test]
fn units_that_are_left_over_write_nothing() {
    for (place, count) in [
        (Place { cube: 0, unit: 3, cubes: 1, units: 4 }, 3),
        (Place { cube: 4, unit: 0, cubes: 5, units: 64 }, 256),
        (Place { cube: 1, unit: 1, cubes: 2, units: 32 }, 33),
        (Place { cube: 0, unit: 0, cubes: 1, units: 32 }, 0),
    ] {
        let case = Case::rule("without a number, a unit does nothing")
            .given("place", place)
            .given("numbers", count);
        case.equal(Vec::<usize>::new(), written(place, count));
    }
}

#[test]
fn the_weight_is_that_of_the_column() {
    let (x, weight) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [10.0, 100.0, 1000.0]);
    let case = Case::rule("`[rows][width]`: each number times the weight of its column")
        .given("x", x)
        .given("weight", weight);
    let mut out = [UNTOUCHED; 6];
    for place in places(2, 4) {
        scale(place, &x, &weight, &mut out);
    }
    case.equal([10.0, 200.0, 3000.0, 40.0, 500.0, 6000.0], out);
}

#[test]
fn any_launch_gives_the_same_numbers() {
    let mut random = Random::new(21);
    for (rows, width) in [(1, 1), (1, 31), (4, 8), (1, 32), (3, 11), (5, 64), (3, 171)] {
        let count = rows * width;
        let x: Vec<f32> = (0..count).map(|_| random.float(0.5, 2.0)).collect();
        let weight: Vec<f32> = (0..width).map(|_| random.float(0.5, 2.0)).collect();
        let expected: Vec<f32> = (0..count).map(|i| x[i] * weight[i % width]).collect();
        for (most, units) in [(65_535, 32), (1, 7), (3, 5), (65_535, 256)] {
            let case = Case::rule(
                "the result depends neither on the launch nor on the order of the units",
            )
            .given("rows", rows)
            .given("width", width)
            .given("units", units)
            .given("most", most);
            let launched = cubes(count, units, most);
            // Places of far too many cubes would take longer than anybody waits.
            let enough = count.div_ceil(units).min(most);
            case.equal(("cubes", enough), ("cubes", launched));
            let mut order = places(launched, units);
            order.reverse();
            let middle = random.below(order.len());
            order.rotate_left(middle);
            let mut out = vec![UNTOUCHED; count];
            for place in order {
                scale(place, &x, &weight, &mut out);
            }
            case.equal(&expected, &out);
        }
    }
}

#[test]
fn limit_numbers_are_counted() {
    for numbers in [1 << 32, usize::MAX] {
        let case = Case::rule("there may be very many numbers: no sum overflows")
            .given("numbers", numbers)
            .given("units", 64)
            .given("most", 65_535);
        case.equal(65_535, cubes(numbers, 64, 65_535));
    }
    for numbers in [(1 << 24) + 1, (1 << 31) + 1, (1 << 53) + 1, usize::MAX] {
        let case = Case::rule("one cube for each number, however many: a float has too few digits")
            .given("numbers", numbers)
            .given("units", 1)
            .given("most", usize::MAX);
        case.equal(numbers, cubes(numbers, 1, usize::MAX));
    }
}
