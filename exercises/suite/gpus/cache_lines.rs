use super::cache_lines::{Layout, Matrix, addresses, lines, used};
use crate::support::Case;

fn matrix(n_out: usize, n_in: usize, bytes_of_a_weight: usize, layout: Layout) -> Matrix {
    Matrix { n_out, n_in, bytes_of_a_weight, layout }
}

#[track_caller]
fn check_addresses(rule: &str, matrix: Matrix, of: [usize; 3], expected: &[usize]) {
    let [first, units, k] = of;
    let case = Case::rule(rule)
        .given("matrix", matrix)
        .given("first", first)
        .given("units", units)
        .given("k", k);
    case.equal(expected.to_vec(), addresses(&matrix, first, units, k));
}

#[track_caller]
fn check_lines(rule: &str, addresses: &[usize], bytes: usize, line: usize, expected: usize) {
    let case =
        Case::rule(rule).given("addresses", addresses).given("bytes", bytes).given("line", line);
    case.equal(expected, lines(addresses, bytes, line));
}

#[track_caller]
fn check_used(rule: &str, addresses: &[usize], bytes: usize, line: usize, expected: Option<f64>) {
    let case =
        Case::rule(rule).given("addresses", addresses).given("bytes", bytes).given("line", line);
    let found = used(addresses, bytes, line);
    let close = match (expected, found) {
        (Some(expected), Some(found)) => (expected - found).abs() < 1e-9,
        (None, None) => true,
        _ => false,
    };
    case.holds(close, &format!("{expected:?}"), found);
}

#[test]
fn an_address_is_a_number_of_bytes() {
    let rule = "output by output: the row of output `first + unit`, and `k` in it, in bytes";
    check_addresses(rule, matrix(8, 5, 4, Layout::ByOutput), [0, 3, 0], &[0, 20, 40]);
    check_addresses(rule, matrix(8, 5, 4, Layout::ByOutput), [2, 3, 3], &[52, 72, 92]);
    check_addresses(rule, matrix(8, 5, 2, Layout::ByOutput), [2, 3, 3], &[26, 36, 46]);
    let rule = "input by input: neighbours read adjacent weights";
    check_addresses(rule, matrix(8, 5, 4, Layout::ByInput), [0, 3, 0], &[0, 4, 8]);
    check_addresses(rule, matrix(8, 5, 4, Layout::ByInput), [2, 3, 3], &[104, 108, 112]);
    check_addresses(rule, matrix(8, 5, 2, Layout::ByInput), [2, 3, 3], &[52, 54, 56]);
}

#[test]
fn a_unit_without_an_output_reads_nothing() {
    let rule = "the last plane may have units that are left over";
    for layout in [Layout::ByOutput, Layout::ByInput] {
        let narrow = matrix(6, 1, 4, layout);
        check_addresses(rule, narrow, [4, 4, 0], &[16, 20]);
        check_addresses(rule, narrow, [6, 4, 0], &[]);
        check_addresses(rule, narrow, [8, 4, 0], &[]);
        check_addresses(rule, narrow, [0, 6, 0], &[0, 4, 8, 12, 16, 20]);
    }
}

#[test]
fn a_line_serves_all_that_read_of_it() {
    let rule = "lines of 16 bytes begin at the multiples of 16";
    check_lines(rule, &[0, 4, 8, 12], 4, 16, 1);
    check_lines(rule, &[24, 28, 32, 36], 4, 16, 2);
    check_lines(rule, &[0, 20, 40, 60], 4, 16, 4);
    let rule = "a line counts once, in whatever order the units read it";
    check_lines(rule, &[12, 0, 40, 4, 32, 8], 4, 16, 2);
    check_lines(rule, &[0, 64, 0, 64], 4, 16, 2);
    check_lines(rule, &[4, 4, 4, 4], 4, 16, 1);
    check_lines("without units no line is loaded", &[], 4, 16, 0);
}

#[test]
fn a_number_may_lie_in_two_lines() {
    let rule = "the last byte may be in another line than the first";
    check_lines(rule, &[14], 4, 16, 2);
    check_lines(rule, &[12], 4, 16, 1);
    check_lines(rule, &[13, 29], 4, 16, 3);
    check_lines("a wide load takes all lines that it reaches", &[8], 40, 16, 3);
    check_lines("a wide load takes all lines that it reaches", &[0], 32, 16, 2);
}

#[test]
fn a_share_of_the_bytes_is_used() {
    let rule = "the bytes that were asked for, of the bytes that were loaded";
    check_used(rule, &[0, 4, 8, 12], 4, 16, Some(1.0));
    check_used(rule, &[24, 28, 32, 36], 4, 16, Some(0.5));
    check_used(rule, &[0, 20, 40, 60], 4, 16, Some(0.25));
    check_used(rule, &[14], 4, 16, Some(0.125));
    let rule = "a byte counts once, even if several units read it";
    check_used(rule, &[4, 4, 4, 4], 4, 16, Some(0.25));
    check_used(rule, &[0, 2], 4, 16, Some(6.0 / 16.0));
    check_used(rule, &[2, 0], 4, 16, Some(6.0 / 16.0));
    check_used(rule, &[4, 6, 0, 2], 4, 16, Some(10.0 / 16.0));
    check_used("if nothing is read, there is no share", &[], 4, 16, None);
}

#[test]
fn a_plane_over_a_matrix() {
    for (bytes, n_in, by_output, by_input) in
        [(4, 192, 32, 1), (2, 192, 32, 1), (4, 8, 8, 1), (2, 8, 4, 1)]
    {
        for (layout, expected) in [(Layout::ByOutput, by_output), (Layout::ByInput, by_input)] {
            let matrix = matrix(512, n_in, bytes, layout);
            let case = Case::rule("lines of 128 bytes that 32 units load at one input")
                .given("matrix", matrix);
            let read = addresses(&matrix, 64, 32, 3);
            case.equal(expected, lines(&read, bytes, 128));
            let share = used(&read, bytes, 128).unwrap_or_default();
            let expected = (32 * bytes) as f64 / (128 * expected) as f64;
            case.holds((share - expected).abs() < 1e-9, &format!("{expected} is used"), share);
        }
    }
}

#[test]
fn rows_that_begin_anywhere() {
    let rule = "a matrix whose rows do not end with a line: 33 outputs, input by input";
    let odd = matrix(33, 4, 4, Layout::ByInput);
    let case = Case::rule(rule).given("matrix", odd);
    let counts: Vec<usize> = (0..4).map(|k| lines(&addresses(&odd, 0, 32, k), 4, 128)).collect();
    case.equal(vec![1, 2, 2, 2], counts);
}
