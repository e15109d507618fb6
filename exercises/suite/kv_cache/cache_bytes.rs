use super::cache_bytes::{ModelSize, cache_bytes, sequences_that_fit};
use crate::support::Case;

const EMBER: ModelSize = ModelSize {
    n_layers: 5,
    n_heads: 4,
    n_kv_heads: 2,
    head_dim: 48,
    bytes_per_number: 4,
    weight_bytes: 9_691_392,
};

const LARGER: ModelSize = ModelSize {
    n_layers: 16,
    n_heads: 24,
    n_kv_heads: 6,
    head_dim: 64,
    bytes_per_number: 2,
    weight_bytes: 1_000_000_000,
};

/// All its sides are 1.
const SMALLEST: ModelSize = ModelSize {
    n_layers: 1,
    n_heads: 1,
    n_kv_heads: 1,
    head_dim: 1,
    bytes_per_number: 1,
    weight_bytes: 1,
};

fn check(rule: &str, model: ModelSize, batch: u64, positions: u64, expected: Option<u64>) {
    let case =
        Case::rule(rule).given("model", model).given("batch", batch).given("positions", positions);
    case.equal(expected, cache_bytes(&model, batch, positions));
}

fn check_fit(rule: &str, model: ModelSize, positions: u64, memory: u64, expected: u64) {
    let case = Case::rule(rule)
        .given("model", model)
        .given("positions", positions)
        .given("memory", memory);
    case.equal(expected, sequences_that_fit(&model, positions, memory));
}

#[test]
fn keys_and_values_of_one_position() {
    let rule = "bytes = 2 * layers * batch * kv heads * positions * head_dim * bytes";
    check(rule, EMBER, 1, 1, Some(3_840));
}

#[test]
fn bytes_grow_with_the_positions_and_with_the_batch() {
    let rule = "every sequence has its own keys and values, for every one of its places";
    check(rule, EMBER, 1, 9, Some(34_560));
    check(rule, EMBER, 1, 512, Some(1_966_080));
    check(rule, EMBER, 16, 65, Some(3_993_600));
    check(rule, EMBER, 500, 2, Some(3_840_000));
    check(rule, LARGER, 1, 512, Some(12_582_912));
    check(rule, LARGER, 8, 512, Some(100_663_296));
    check(rule, LARGER, 1, 128_000, Some(3_145_728_000));
}

#[test]
fn the_last_sequence_fits_to_the_byte() {
    let rule = "the weights are there once, the cache once for each sequence";
    let (weights, one) = (EMBER.weight_bytes, 100 * 3_840);
    check_fit(rule, EMBER, 100, weights + one - 1, 0);
    check_fit(rule, EMBER, 100, weights + one, 1);
    check_fit(rule, EMBER, 100, weights + 64 * one - 1, 63);
    check_fit(rule, EMBER, 100, weights + 64 * one, 64);
}

#[test]
fn without_room_for_the_weights_nothing_fits() {
    for memory in [0, 1, EMBER.weight_bytes - 1, EMBER.weight_bytes] {
        check_fit("no sequence runs without the weights", EMBER, 1, memory, 0);
    }
}

#[test]
fn limit_a_number_that_is_too_large_is_none() {
    let rule = "a number of bytes that a u64 cannot hold is None";
    // 3840 = 2^8 * 15, so that 2^56 positions wrap around to 15 * 2^64, which is 0.
    for (batch, positions) in [(1, 1 << 56), (1 << 28, 1 << 28), (u64::MAX, u64::MAX)] {
        check(rule, EMBER, batch, positions, None);
    }
    // All sides are powers of 2 whose product is 2^64, and no product of fewer sides is too large:
    // whatever their order, only the last multiplication overflows.
    let [n_layers, n_kv_heads, head_dim, bytes_per_number] = [1 << 10, 1 << 10, 1 << 10, 1 << 3];
    let even = ModelSize {
        n_layers,
        n_heads: 1 << 10,
        n_kv_heads,
        head_dim,
        bytes_per_number,
        weight_bytes: 1,
    };
    // Two of them alone are too large.
    let (flat, large) = (SMALLEST, 1 << 32);
    for (model, batch, positions) in [
        (even, 1 << 10, 1 << 20),
        (ModelSize { n_layers: 1 << 63, ..flat }, 1, 1),
        (ModelSize { n_kv_heads: 1 << 63, ..flat }, 1, 1),
        (ModelSize { head_dim: 1 << 63, ..flat }, 1, 1),
        (ModelSize { bytes_per_number: 1 << 63, ..flat }, 1, 1),
        (flat, 1 << 63, 1),
        (flat, 1, 1 << 63),
        (ModelSize { n_layers: large, n_kv_heads: large, ..flat }, 1, 1),
        (ModelSize { n_layers: large, head_dim: large, ..flat }, 1, 1),
        (ModelSize { n_layers: large, bytes_per_number: large, ..flat }, 1, 1),
        (ModelSize { n_kv_heads: large, head_dim: large, ..flat }, 1, 1),
        (ModelSize { head_dim: large, bytes_per_number: large, ..flat }, 1, 1),
        (ModelSize { n_layers: large, ..flat }, large, 1),
        (ModelSize { n_kv_heads: large, ..flat }, 1, large),
        (ModelSize { head_dim: large, ..flat }, 1, large),
        (flat, large, large),
    ] {
        let rule = format!("{rule}, whichever product is too large");
        check(&rule, model, batch, positions, None);
    }
    let most = u64::MAX / 3_840;
    check("a number that a u64 can hold is not None", EMBER, 1, most, Some(most * 3_840));
}

#[test]
fn limit_large_numbers_are_exact() {
    let rule = "as many as fit, exactly, even if the memory is large";
    for memory in [(1 << 60) - 1, u64::MAX] {
        check_fit(rule, SMALLEST, 1, memory, (memory - 1) / 2);
    }
    let heavy = ModelSize { weight_bytes: 3839, ..EMBER };
    check_fit(rule, heavy, 1, u64::MAX, (u64::MAX - 3839) / 3840);
    let great = 1 << 32;
    let huge = ModelSize {
        n_layers: great,
        n_heads: great,
        n_kv_heads: great,
        head_dim: great,
        bytes_per_number: great,
        weight_bytes: 1,
    };
    let rule = "the product must not wrap around, in no type: this is 2^193";
    check(rule, huge, great, great, None);
    let rule = "a number that a u64 can hold is not None";
    check(rule, SMALLEST, 1, u64::MAX / 2, Some(u64::MAX - 1));
}

#[test]
fn limit_a_sequence_that_cannot_be_counted_does_not_fit() {
    let rule = "if one sequence takes more than a u64 can count, none fits";
    check_fit(rule, EMBER, 1 << 56, u64::MAX, 0);
}
