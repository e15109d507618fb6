//! `09_paged_kv`: block tables, shared blocks, and the same logits with and without sharing.

use super::*;

const PAGED: &str = "09_paged_kv";

/// On the CPU, where blocks are shared.
const CPU: [&str; 2] = ["--device", "cpu"];

fn paged(more: &[&str]) -> Value {
    succeed_in_json(PAGED, &[&CPU, more].concat())
}

/// What a sequence says, whoever else there was.
fn texts(report: &Value) -> Vec<(Value, String)> {
    let sequences = report["sequences"].as_array().unwrap();
    let text = |sequence: &Value| {
        let hash = sequence["logits_hash"].as_str().unwrap();
        assert_eq!(hash.len(), 64);
        (sequence["ids"].clone(), hash.to_owned())
    };
    sequences.iter().map(text).collect()
}

fn count(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn sum(report: &Value, field: &str) -> usize {
    report["sequences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sequence| count(&sequence[field]))
        .sum()
}

#[test]
fn blocks_are_shared_and_change_no_bit() {
    let (with, without) = (paged(&[]), paged(&["--no-prefix-cache"]));
    assert_eq!(texts(&with), texts(&without));
    assert_eq!(texts(&with).len(), 3);
    assert_eq!(count(&with["block_size"]), 32);

    // Every sequence after the first finds the full blocks of the common beginning.
    let tables: Vec<Vec<(&str, usize)>> = with["sequences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sequence| {
            let blocks = sequence["blocks"].as_array().unwrap().iter();
            blocks.map(|b| (b["block"].as_str().unwrap(), count(&b["owners"]))).collect()
        })
        .collect();
    let shared = tables[0].iter().filter(|(_, owners)| *owners == 3).count();
    assert!(shared >= 2, "{tables:?}");
    for (sequence, table) in with["sequences"].as_array().unwrap().iter().zip(&tables) {
        assert_eq!(table[..shared], tables[0][..shared]);
        assert!(table[shared..].iter().all(|(_, owners)| *owners == 1), "{tables:?}");
        let length = count(&sequence["length"]);
        assert_eq!(table.len(), length.div_ceil(32));
    }
    let cached = |report: &Value| -> Vec<usize> {
        let sequences = report["sequences"].as_array().unwrap();
        sequences.iter().map(|sequence| count(&sequence["cached_tokens"])).collect()
    };
    assert_eq!(cached(&with), [0, 32 * shared, 32 * shared]);
    assert_eq!(cached(&without), [0, 0, 0]);
    assert_eq!(count(&with["prefix_cache"]["hits"]), 2 * shared);
    assert_eq!(count(&without["prefix_cache"]["lookups"]), 0);

    let bytes = |report: &Value, field: &str| count(&report["bytes"][field]);
    let order = ["written", "allocated", "unshared"];
    let order = order.map(|field| bytes(&with, field));
    assert!(order.is_sorted_by(|a, b| a < b), "{order:?}");
    assert_eq!(bytes(&without, "allocated"), bytes(&with, "unshared"));
    assert_eq!(bytes(&without, "contiguous"), bytes(&with, "contiguous"));
    let saved = 2 * shared * count(&with["block_bytes"]);
    assert_eq!(bytes(&with, "unshared") - bytes(&with, "allocated"), saved);
}

#[test]
fn little_memory_preempts_and_evicts_and_changes_no_bit() {
    // Six blocks of 120 KiB.
    let (tight, ample) = (paged(&["--kv-cache-bytes", "720KiB"]), paged(&[]));
    assert_eq!(texts(&tight), texts(&ample));
    assert!(sum(&tight, "preemptions") + count(&tight["prefix_cache"]["evictions"]) > 0);
    assert_eq!(sum(&ample, "preemptions"), 0);
    fail(
        PAGED,
        &[&CPU[..], &["--kv-cache-bytes", "240KiB"]].concat(),
        1,
        "the KV caches have room for 64",
    );
}

#[test]
fn the_report_says_who_holds_which_block() {
    let text = succeed(PAGED, &CPU);
    for word in [
        "0..31",
        "(x3)",
        "deferred: its next block is being computed",
        "the positions that were written",
        "were found and not computed",
    ] {
        assert!(text.contains(word), "{word} is not in {text}");
    }
}

#[test]
fn requests_are_compared_with_and_without_a_prefix_cache() {
    let args = [
        "--device",
        "cpu",
        "--compare",
        "--requests",
        "3",
        "--shared-tokens",
        "70",
        "--rounds",
        "1",
        "--stories",
        "2",
        "--max-tokens",
        "40",
    ];
    let report = succeed_in_json(PAGED, &args);
    assert_eq!(report["same_bits"], true);
    // Three prompts of 71 tokens; two of them find two blocks of 32.
    assert_eq!(report["without"]["prompt_tokens_computed"], 3 * 71);
    assert_eq!(report["with"]["prompt_tokens_computed"], 3 * 71 - 2 * 64);
    for which in ["without", "with"] {
        assert!(report[which]["median_seconds"].as_f64().unwrap() > 0.0);
    }
    let stories = ["written", "allocated"].map(|field| count(&report["stories"][field]));
    assert!(0 < stories[0] && stories[0] <= stories[1], "{stories:?}");
    let text = succeed(PAGED, &args);
    assert!(text.contains("the same bits with and without"), "{text}");

    fail(PAGED, &["--compare", "--shared-tokens", "512"], 2, "context length");
    fail(PAGED, &["--compare", "--shared-tokens", "5000"], 2, "by 4489 tokens");
    fail_in_clap(PAGED, &["--stories", "18446744073709551615"], "--stories");
    fail_in_clap(PAGED, &["--rounds", "0"], "--rounds");
}
