use super::roofline::{Linear, Machine, Place, place};
use crate::support::Case;

const SLOW: Machine = Machine { bytes_per_second: 10.0, flops_per_second: 8.0 };

fn layer(n_out: u64, n_in: u64, rows: u64, bytes_of_a_weight: u64) -> Linear {
    Linear { n_out, n_in, rows, bytes_of_a_weight }
}

fn found(rule: &str, layer: Linear, machine: Machine) -> (Case, Place) {
    let case = Case::rule(rule).given("layer", layer).given("machine", machine);
    (case, place(layer, machine))
}

#[test]
fn a_multiply_add_is_two_operations() {
    for (n_out, n_in, rows, flops) in [(4, 2, 1, 16), (3, 5, 1, 30), (3, 5, 7, 210)] {
        let rule = "two operations for each weight and row";
        let (case, place) = found(rule, layer(n_out, n_in, rows, 4), SLOW);
        case.equal(flops, place.flops);
    }
}

#[test]
fn weights_rows_and_results_are_bytes() {
    let rule = "the weights once, the rows of x once, the rows of the result once";
    for (layer, bytes) in [
        (layer(4, 2, 1, 4), 56),
        (layer(4, 2, 3, 4), 32 + 24 + 48),
        (layer(10, 1, 1, 4), 40 + 4 + 40),
        (layer(1, 10, 1, 4), 40 + 40 + 4),
    ] {
        let (case, place) = found(rule, layer, SLOW);
        case.equal(bytes, place.bytes);
    }
}

#[test]
fn only_the_weights_are_stored_smaller() {
    let rule = "in f16 a weight takes 2 bytes; the rows stay f32";
    let (case, place) = found(rule, layer(4, 2, 3, 2), SLOW);
    case.equal(16 + 24 + 48, place.bytes);
}

#[test]
fn the_slower_side_decides() {
    let rule = "bytes and operations go on at the same time: the longer of both times counts";
    let (case, place) = found(rule, layer(4, 2, 1, 4), SLOW);
    case.close(&[5.6], &[place.seconds as f32], 1e-6);
    case.equal(true, place.waits_for_bytes);
    let calculator = Machine { bytes_per_second: 1e9, flops_per_second: 8.0 };
    let (case, place) = found(rule, layer(4, 2, 1, 4), calculator);
    case.close(&[2.0], &[place.seconds as f32], 1e-6);
    case.equal(false, place.waits_for_bytes);
}

#[test]
fn at_the_ridge_nothing_waits_for_bytes() {
    let even = Machine { bytes_per_second: 56.0, flops_per_second: 16.0 };
    let (case, place) = found("equal times: it does not wait for bytes", layer(4, 2, 1, 4), even);
    case.close(&[1.0], &[place.seconds as f32], 1e-6);
    case.equal(false, place.waits_for_bytes);
}

#[test]
fn a_decode_step_is_bytes_and_a_prefill_is_arithmetic() {
    let server = Machine { bytes_per_second: 40e9, flops_per_second: 400e9 };
    let rule = "1536 x 576 in f32: one row waits for bytes, 128 rows do not";
    let (case, one) = found(rule, layer(1536, 576, 1, 4), server);
    case.equal(true, one.waits_for_bytes);
    let (case, many) = found(rule, layer(1536, 576, 128, 4), server);
    case.equal(false, many.waits_for_bytes);
    let ratio = many.seconds / one.seconds;
    case.holds(ratio > 6.0 && ratio < 7.0, "128 rows in the time of 6 to 7 single ones", ratio);
}

#[test]
fn counts_and_times_may_be_large_and_small() {
    let server = Machine { bytes_per_second: 40e9, flops_per_second: 400e9 };
    let rule = "a layer may have more bytes and operations than a u32 can count";
    let (case, large) = found(rule, layer(65_536, 65_536, 64, 4), server);
    case.equal((17_213_423_616, 549_755_813_888), (large.bytes, large.flops));
    let rule = "times are f64, to the last digits";
    let (case, small) = found(rule, layer(3, 5, 1, 4), server);
    let off = (small.seconds / (92.0 / 40e9) - 1.0).abs();
    case.holds(off < 1e-12, "2.3 nanoseconds", small.seconds);
    let rule = "a time that is longer by little is longer";
    case.equal(true, small.waits_for_bytes);
    let close = Machine { bytes_per_second: 92.0, flops_per_second: 30.0 + 1e-9 };
    let (case, place) = found(rule, layer(3, 5, 1, 4), close);
    case.equal(true, place.waits_for_bytes);
}
