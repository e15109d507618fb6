//! `11_gpus`: a launch on the host, the bounds of a step, and a story on a device.

use super::*;

const GPUS: &str = "11_gpus";

#[test]
fn a_launch_covers_the_matrix_and_a_step_has_bounds() {
    let report = succeed_in_json(GPUS, &["--device", "cpu"]);
    let writers: Vec<[usize; 2]> =
        serde_json::from_value(report["launch"]["writers"].clone()).unwrap();
    let expected: Vec<[usize; 2]> = (0..30).map(|i| [i / 4, i % 4]).collect();
    assert_eq!(writers, expected);
    assert_eq!(report["launch"]["left_over"], 2);

    // A row of ember's gate has 192 weights of 4 bytes: no two rows share a line.
    let lines = [&report["loads"][0]["lines"], &report["loads"][1]["lines"]];
    assert_eq!(lines, [32, 1]);

    // Per block 2 norms, 4 products, 2 rotations, attention and activation; embedding, norm, head.
    let step = &report["step"];
    assert_eq!(step["kernels"], 5 * 10 + 3);
    let model = bundled(&device());
    assert!(step["bytes"].as_u64().unwrap() > model.model.bytes() as u64);
    assert!(report["story"].is_null());
}

#[test]
fn the_bounds_follow_the_flags() {
    let step = |flags: &[&str]| {
        let report = succeed_in_json(GPUS, &[&["--device", "cpu"], flags].concat());
        let seconds = |what: &str| report["step"][what].as_f64().unwrap();
        [
            seconds("seconds_of_the_bytes"),
            seconds("seconds_of_the_launches"),
        ]
    };
    let [bytes, launches] = step(&[]);
    let [slower, fewer] = step(&["--gb-per-second", "100", "--launch-us", "2.5"]);
    assert!((slower / bytes - 10.0).abs() < 1e-9 && (launches / fewer - 2.0).abs() < 1e-9);
    for flag in ["--gb-per-second", "--launch-us"] {
        for wrong in ["0", "-1", "nan", "inf", "much"] {
            let value = format!("{flag}={wrong}");
            fail_in_clap(GPUS, &[&value], flag);
        }
    }
}

#[test]
fn without_a_device_it_says_how_to_get_one() {
    let text = succeed(GPUS, &["--device", "cpu"]);
    assert!(text.contains("--features cuda") && text.contains("cube.unit"), "{text}");
    #[cfg(not(feature = "cuda"))]
    fail(GPUS, &["--device", "cuda"], 2, "--features cuda");
}

/// `ndarray` is a device beside the CPU that every machine has.
#[cfg(feature = "ndarray")]
#[test]
fn a_story_is_written_on_another_device() {
    let report = succeed_in_json(GPUS, &["--device", "ndarray", "--max-tokens", "12"]);
    let story = &report["story"];
    assert_eq!(story["ids"], story["ids_on_cpu"]);
    assert!(story["parts_at"].is_null() && story["launches_of_a_step"].is_null());
    assert!(story["same_bits_in_a_batch"].is_boolean());
}
