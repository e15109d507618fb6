use super::waves::{Gpu, Launch, least_seconds, occupancy, resident, waves};
use crate::support::Case;

const GPU: Gpu = Gpu {
    multiprocessors: 4,
    units: 1024,
    cubes: 16,
    shared_bytes: 48 * 1024,
    registers: 65_536,
    bytes_per_second: 1e9,
    seconds_of_a_launch: 5e-6,
};

fn launch(cubes: u64, units: u64) -> Launch {
    Launch { cubes, units, shared_bytes: 0, registers: 16, bytes: 0 }
}

#[track_caller]
fn check_resident(rule: &str, launch: Launch, expected: u64) {
    let case = Case::rule(rule).given("gpu", GPU).given("launch", launch);
    case.equal(expected, resident(&GPU, &launch));
}

#[test]
fn units_and_cubes_need_places() {
    let rule = "as many cubes as have a place for all their units";
    check_resident(rule, launch(100, 256), 4);
    check_resident(rule, launch(100, 1024), 1);
    check_resident(rule, launch(100, 300), 3);
    check_resident(rule, launch(100, 1025), 0);
    check_resident("no more than 16 cubes", launch(100, 32), 16);
    check_resident("no more than 16 cubes", launch(1, 1), 16);
}

#[test]
fn shared_memory_is_shared_out() {
    let with = |shared_bytes| Launch { shared_bytes, ..launch(100, 64) };
    let rule = "a cube has its shared memory to itself";
    check_resident(rule, with(16 * 1024), 3);
    check_resident(rule, with(16 * 1024 + 1), 2);
    check_resident(rule, with(48 * 1024), 1);
    check_resident(rule, with(48 * 1024 + 1), 0);
    check_resident("it may ask for none", with(0), 16);
    check_resident("if it asks for little, something else decides", with(64), 16);
}

#[test]
fn registers_are_shared_out() {
    let with = |units, registers| Launch { registers, ..launch(100, units) };
    let rule = "each unit has its registers to itself";
    check_resident(rule, with(256, 128), 2);
    check_resident(rule, with(256, 64), 4);
    check_resident(rule, with(512, 100), 1);
    check_resident(rule, with(512, 129), 0);
    check_resident("it may use none", with(256, 0), 4);
}

#[test]
fn occupancy_is_a_share_of_the_units() {
    for (launch, expected) in [
        (launch(100, 256), 1.0),
        (launch(100, 32), 0.5),
        (launch(100, 300), 900.0 / 1024.0),
        (Launch { registers: 128, ..launch(100, 256) }, 0.5),
        (Launch { shared_bytes: 16 * 1024, ..launch(1, 64) }, 192.0 / 1024.0),
        (launch(100, 2000), 0.0),
    ] {
        let case = Case::rule("the units of the resident cubes, out of all that have a place")
            .given("gpu", GPU)
            .given("launch", launch);
        let found = occupancy(&GPU, &launch);
        case.holds((found - expected).abs() < 1e-9, &format!("{expected}"), found);
    }
}

#[test]
fn one_cube_more_may_be_one_wave_more() {
    for (cubes, expected) in [
        (1, 1),
        (15, 1),
        (16, 1),
        (17, 2),
        (32, 2),
        (33, 3),
        (0, 0),
        (1 << 40, 1 << 36),
        ((1 << 60) + 1, (1 << 56) + 1),
    ] {
        let launch = launch(cubes, 256);
        let case = Case::rule("a wave is what all multiprocessors hold at once, 16 cubes here")
            .given("gpu", GPU)
            .given("launch", launch);
        case.equal(Some(expected), waves(&GPU, &launch));
    }
}

#[test]
fn a_wave_is_what_is_resident() {
    let of_memory = |cubes| Launch { shared_bytes: 16 * 1024, ..launch(cubes, 64) };
    let of_registers = |cubes| Launch { registers: 128, ..launch(cubes, 256) };
    for (why, launch, expected) in [
        ("16 cubes of 32 units on each of 4", launch(64, 32), 1),
        ("16 cubes of 32 units on each of 4", launch(65, 32), 2),
        ("shared memory for 3 cubes on each of 4", of_memory(12), 1),
        ("shared memory for 3 cubes on each of 4", of_memory(13), 2),
        ("registers for 2 cubes on each of 4", of_registers(8), 1),
        ("registers for 2 cubes on each of 4", of_registers(9), 2),
    ] {
        let rule =
            "a wave has as many cubes as are resident, and not only as have places for their units";
        let case = Case::rule(rule).given("gpu", GPU).given("launch", launch).given("room", why);
        case.equal(Some(expected), waves(&GPU, &launch));
    }
}

#[test]
fn a_cube_that_fits_nowhere_has_no_waves() {
    for launch in [
        launch(1, 1025),
        Launch { shared_bytes: 100_000, ..launch(1, 32) },
        Launch { registers: 3000, ..launch(1, 32) },
    ] {
        let case = Case::rule("not even one cube fits").given("gpu", GPU).given("launch", launch);
        case.equal(None, waves(&GPU, &launch));
    }
}

#[test]
fn the_host_goes_ahead_of_the_gpu() {
    let of = |bytes| Launch { bytes, ..launch(4, 64) };
    for (launches, expected, why) in [
        (vec![of(1_000_000); 3], 3e-3, "the bytes of all launches take longer"),
        (vec![of(1000); 3], 15e-6, "the host takes longer to start them"),
        (
            vec![of(1_000_000), of(0), of(0)],
            1e-3,
            "one long launch gives the host time for the others",
        ),
        (vec![of(0); 200], 1e-3, "launches without bytes must be started too"),
        (vec![of(5000); 7], 35e-6, "equally long"),
        (vec![], 0.0, "nothing to do"),
        (vec![of(1 << 62); 2], (1_u64 << 63) as f64 / 1e9, "very many bytes"),
    ] {
        let bytes: Vec<u64> = launches.iter().map(|launch| launch.bytes).collect();
        let case = Case::rule("host and GPU work at the same time: the longer of both counts")
            .given("gpu", GPU)
            .given("bytes of the launches", &bytes[..bytes.len().min(8)])
            .given("launches", launches.len())
            .given("case", why);
        let found = least_seconds(&GPU, &launches);
        let near = (found - expected).abs() <= 1e-9 * expected;
        case.holds(near, &format!("{expected} seconds"), found);
    }
    let four_waves = Launch { bytes: 1_000_000, ..launch(64, 256) };
    let case = Case::rule("`bytes` is what all units of a launch move, in however many waves")
        .given("gpu", GPU)
        .given("launch", four_waves);
    let found = least_seconds(&GPU, &[four_waves]);
    case.holds((found - 1e-3).abs() < 1e-12, "0.001 seconds", found);
}
