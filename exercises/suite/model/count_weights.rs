use super::count_weights::{Sizes, count_weights};
use crate::support::Case;

const EMBER: Sizes = Sizes {
    vocab_size: 2048,
    d_model: 192,
    n_layers: 5,
    n_heads: 4,
    n_kv_heads: 2,
    head_dim: 48,
    d_ff: 512,
    tied_head: true,
};

/// Sizes without any structure, so that hardly two parts have the same number of weights.
const ODD: Sizes = Sizes {
    vocab_size: 11,
    d_model: 3,
    n_layers: 1,
    n_heads: 4,
    n_kv_heads: 2,
    head_dim: 5,
    d_ff: 7,
    tied_head: true,
};

fn check(rule: &str, sizes: Sizes, expected: u64) {
    let case = Case::rule(rule).given("sizes", sizes);
    let found = count_weights(&sizes);
    // What is missing is often one matrix, or one norm, whose size says which.
    let (side, difference) = if found < expected {
        ("less", expected - found)
    } else {
        ("more", found - expected)
    };
    case.told(
        found == expected,
        &expected.to_string(),
        &format!("{found}, which is {difference} {side}"),
    );
}

#[test]
fn ember_has_2_4_million() {
    check(
        "the sum of the page's table: the embedding, which a tied head shares; in each layer attention, a feed-forward network and two norms; the last norm",
        EMBER,
        2_422_848,
    );
}

#[test]
fn a_model_of_8_billion() {
    let sizes = Sizes {
        vocab_size: 128_256,
        d_model: 4096,
        n_layers: 32,
        n_heads: 32,
        n_kv_heads: 8,
        head_dim: 128,
        d_ff: 14_336,
        tied_head: false,
    };
    check("Llama 3.1 8B has 8.03 billion weights", sizes, 8_030_261_248);
}

#[test]
fn the_number_is_exact() {
    let sizes = Sizes {
        vocab_size: 10_000_019,
        d_model: 1_000_003,
        n_layers: 1_001,
        n_heads: 997,
        n_kv_heads: 97,
        head_dim: 1_009,
        d_ff: 4_000_037,
        tied_head: true,
    };
    let rule = "the number is exact, even if no f64 holds it";
    check(rule, sizes, 14_232_055_521_038_475);
    check(rule, Sizes { vocab_size: 10_000_020, ..sizes }, 14_232_055_522_038_478);
    let wide = Sizes {
        vocab_size: 1,
        d_model: 1 << 30,
        n_layers: 1,
        n_heads: 1 << 20,
        n_kv_heads: 1 << 10,
        head_dim: 1 << 8,
        d_ff: 1,
        tied_head: true,
    };
    check(
        "if the number fits, nothing on the way to it overflows",
        wide,
        577023709773037568,
    );
}

#[test]
fn without_blocks_there_are_an_embedding_and_a_norm() {
    let rule = "next to the blocks there are the embedding and one norm";
    check(rule, Sizes { n_layers: 0, ..ODD }, 11 * 3 + 3);
    check(rule, Sizes { n_layers: 0, ..EMBER }, 2048 * 192 + 192);
}

#[test]
fn a_head_of_its_own() {
    let rule = "a head that is not tied adds vocab_size * d_model weights";
    check(rule, Sizes { n_layers: 0, tied_head: false, ..ODD }, 11 * 3 + 3 + 11 * 3);
}

#[test]
fn queries_may_be_wider_than_the_model() {
    let rule = "queries and attention's output are n_heads * head_dim wide, keys and values \
                n_kv_heads * head_dim";
    let (queries, keys, feed_forward, norms) = (20 * 3, 10 * 3, 7 * 3, 3);
    let block = 2 * queries + 2 * keys + 3 * feed_forward + 2 * norms;
    check(rule, ODD, 11 * 3 + block + norms);
    check(rule, Sizes { n_layers: 4, ..ODD }, 11 * 3 + 4 * block + norms);
}

#[test]
fn fewer_keys_and_values_are_fewer_weights() {
    let rule = "keys and values have n_kv_heads heads, queries have n_heads";
    check(rule, Sizes { n_kv_heads: 4, ..EMBER }, 2_422_848 + 184_320);
    check(rule, Sizes { n_kv_heads: 1, ..EMBER }, 2_422_848 - 92_160);
}
