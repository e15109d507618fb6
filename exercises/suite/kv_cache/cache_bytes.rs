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

#[test]
fn keys_and_values_of_one_position() {
    let case = Case::rule("bytes = 2 * layers * batch * kv heads * positions * head_dim * bytes")
        .given("model", EMBER)
        .given("batch", 1)
        .given("positions", 1);
    case.equal(Some(3_840), cache_bytes(&EMBER, 1, 1));
}

#[test]
fn bytes_grow_with_the_positions_and_with_the_batch() {
    for (model, batch, positions, expected) in [
        (EMBER, 1, 9, 34_560),
        (EMBER, 1, 512, 1_966_080),
        (EMBER, 16, 65, 3_993_600),
        (EMBER, 500, 2, 3_840_000),
        (LARGER, 1, 512, 12_582_912),
        (LARGER, 8, 512, 100_663_296),
        (LARGER, 1, 128_000, 3_145_728_000),
    ] {
        let case =
            Case::rule("every sequence has its own keys and values, for every one of its places")
                .given("model", model)
                .given("batch", batch)
                .given("positions", positions);
        case.equal(Some(expected), cache_bytes(&model, batch, positions));
    }
}

#[test]
fn a_number_that_is_too_large_is_none() {
    // 3840 = 2^8 * 15, so that 2^56 positions wrap around to 15 * 2^64, which is 0.
    for (batch, positions) in [(1, 1 << 56), (1 << 28, 1 << 28), (u64::MAX, u64::MAX)] {
        let case = Case::rule("a number of bytes that a u64 cannot hold is None")
            .given("model", EMBER)
            .given("batch", batch)
            .given("positions", positions);
        case.equal(None, cache_bytes(&EMBER, batch, positions));
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
    let flat = ModelSize {
        n_layers: 1,
        n_heads: 1,
        n_kv_heads: 1,
        head_dim: 1,
        bytes_per_number: 1,
        weight_bytes: 1,
    };
    let large = 1 << 32;
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
        let case = Case::rule(
            "a number of bytes that a u64 cannot hold is None, whichever product is too large",
        )
        .given("model", model)
        .given("batch", batch)
        .given("positions", positions);
        case.equal(None, cache_bytes(&model, batch, positions));
    }
    let most = u64::MAX / 3_840;
    let case = Case::rule("a number that a u64 can hold is not None")
        .given("model", EMBER)
        .given("batch", 1)
        .given("positions", most);
    case.equal(Some(most * 3_840), cache_bytes(&EMBER, 1, most));
}

#[test]
fn the_last_sequence_fits_to_the_byte() {
    let one = 100 * 3_840;
    for (memory, expected) in [
        (EMBER.weight_bytes + one - 1, 0),
        (EMBER.weight_bytes + one, 1),
        (EMBER.weight_bytes + 64 * one - 1, 63),
        (EMBER.weight_bytes + 64 * one, 64),
    ] {
        let case = Case::rule("the weights are there once, the cache once for each sequence")
            .given("model", EMBER)
            .given("positions", 100)
            .given("memory", memory);
        case.equal(expected, sequences_that_fit(&EMBER, 100, memory));
    }
}

#[test]
fn without_room_for_the_weights_nothing_fits() {
    for memory in [0, 1, EMBER.weight_bytes - 1, EMBER.weight_bytes] {
        let case = Case::rule("no sequence runs without the weights")
            .given("model", EMBER)
            .given("positions", 1)
            .given("memory", memory);
        case.equal(0, sequences_that_fit(&EMBER, 1, memory));
    }
}

#[test]
fn large_numbers_are_exact() {
    let model = ModelSize {
        n_layers: 1,
        n_heads: 1,
        n_kv_heads: 1,
        head_dim: 1,
        bytes_per_number: 1,
        weight_bytes: 1,
    };
    for memory in [(1 << 60) - 1, u64::MAX] {
        let case = Case::rule("as many as fit, exactly, also where the memory is large")
            .given("model", model)
            .given("positions", 1)
            .given("memory", memory);
        case.equal((memory - 1) / 2, sequences_that_fit(&model, 1, memory));
    }
    let heavy = ModelSize { weight_bytes: 3839, ..EMBER };
    let case = Case::rule("as many as fit, exactly, also where the memory is large")
        .given("model", heavy)
        .given("positions", 1)
        .given("memory", u64::MAX);
    case.equal((u64::MAX - 3839) / 3840, sequences_that_fit(&heavy, 1, u64::MAX));
    let great = 1 << 32;
    let huge = ModelSize {
        n_layers: great,
        n_heads: great,
        n_kv_heads: great,
        head_dim: great,
        bytes_per_number: great,
        weight_bytes: 1,
    };
    let case = Case::rule("the product must not wrap around, in no type: this is 2^193")
        .given("model", huge)
        .given("batch", great)
        .given("positions", great);
    case.equal(None, cache_bytes(&huge, great, great));
    let case = Case::rule("a number that a u64 can hold is not None")
        .given("model", model)
        .given("batch", 1)
        .given("positions", u64::MAX / 2);
    case.equal(Some(u64::MAX - 1), cache_bytes(&model, 1, u64::MAX / 2));
}

#[test]
fn a_sequence_that_cannot_be_counted_does_not_fit() {
    let case = Case::rule("where one sequence takes more than a u64 can count, none fits")
        .given("model", EMBER)
        .given("positions", 1_u64 << 56)
        .given("memory", u64::MAX);
    case.equal(0, sequences_that_fit(&EMBER, 1 << 56, u64::MAX));
}
