//! The memory of keys and values: its budget, its report, and a record of what happened.

use super::*;

const SHARED: &str = "Once upon a time, there was a little fox called Pip. Pip lived in a small house by \
    the river with a frog. One day, Pip found a red kite on the hill. It";

/// A JSON object for each prompt.
fn batch(args: &[&str]) -> Vec<Value> {
    let prompts = [
        "--prompt",
        SHARED,
        "--prompt",
        SHARED,
        "--prompt",
        "The storm",
    ];
    let common = ["--max-tokens", "60", "--ignore-eos", "--json"];
    let out = succeed("06_batching", &[&prompts[..], &common, args].concat());
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_small_budget_preempts_and_changes_no_bit() {
    let free = batch(&[]);
    assert!(free.iter().all(|object| object["preemptions"] == 0), "{free:?}");
    // Equal prompts that come together are computed once, but for their last block.
    let cached: Vec<_> =
        free.iter().map(|object| object["cached_tokens"].as_u64().unwrap()).collect();
    assert!(cached[0] == 0 && cached[1] >= 32 && cached[2] == 0, "{cached:?}");

    let block = free[0]["kv_cache_bytes"].as_u64().unwrap() / 4;
    let budget = format!("{}B", 5 * block);
    let tight = batch(&["--kv-cache-bytes", &budget]);
    assert!(tight.iter().any(|object| object["preemptions"] != 0), "{tight:?}");
    for (free, tight) in free.iter().zip(&tight) {
        for field in ["ids", "logits_hash", "finish_reason"] {
            assert_eq!(free[field], tight[field]);
        }
        let (prompt, seed) = (free["prompt_ids"].to_string(), free["seed"].to_string());
        let alone = succeed_in_json(
            CACHED,
            &[
                &[
                    "--prompt-ids",
                    prompt.trim_matches(['[', ']']),
                    "--seed",
                    &seed,
                ][..],
                &["--max-tokens", "60", "--ignore-eos"],
            ]
            .concat(),
        );
        assert_eq!(alone["logits_hash"], tight["logits_hash"]);
    }
}

#[test]
fn what_the_budget_cannot_hold_is_refused_with_the_flag() {
    let budget = ["--kv-cache-bytes", "100KiB", "--max-tokens", "400"];
    fail("06_batching", &budget, 1, "(`--kv-cache-bytes`, `--max-tokens`)");
    // Alone, a text goes on for as long as there are blocks.
    let Outcome { code, stdout, stderr } = run(CACHED, &[&budget[..], &["--ignore-eos"]].concat());
    assert_eq!(code, Some(1), "{stderr}");
    assert!(
        !stdout.is_empty() && stderr.contains("(`--kv-cache-bytes`, `--max-tokens`)"),
        "{stderr}"
    );
    fail_in_clap(CACHED, &["--kv-cache-bytes", "much"], "--kv-cache-bytes");
}

#[test]
fn a_block_report_says_how_many_were_in_use() {
    for name in [CACHED, "06_batching", "07_streaming"] {
        let args = [
            "--block-report",
            "--max-tokens",
            "20",
            "--kv-cache-bytes",
            "8MiB",
            "--json",
        ];
        let Outcome { stderr, .. } = run(name, &args);
        let said = " of 68 blocks in use, ";
        assert!(stderr.contains(said), "{name}: {stderr}");
        assert!(
            stderr.contains("of 8.0 MiB; a block is 32 positions, 120 KiB"),
            "{name}: {stderr}"
        );
    }
    let Outcome { stderr, .. } = run("06_batching", &["--block-report", "--max-tokens", "5"]);
    for said in [
        "prompt tokens from the prefix cache, 0 preemptions",
        "saved: none of keys and values",
        "the prefix cache saved about 0.0 ms",
    ] {
        assert!(stderr.contains(said), "{said}: {stderr}");
    }
}

#[test]
fn a_record_holds_every_event_and_every_step() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("record.jsonl");
    batch(&["--record", file.to_str().unwrap()]);
    let record = std::fs::read_to_string(&file).unwrap();
    let entries: Vec<Value> =
        record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(entries[0]["entry"], "start");
    let count = |name: &str| entries.iter().filter(|entry| entry["entry"] == name).count();
    assert_eq!(count("logits"), 3 * 60);
    let events =
        |name: &str| entries.iter().filter(|entry| entry["event"].get(name).is_some()).count();
    assert_eq!((events("arrive"), events("token"), events("leave")), (3, 3 * 60, 3));

    for name in ["09_scheduler", "10_paged_kv"] {
        run(name, &["--max-tokens", "5", "--record", file.to_str().unwrap()]);
        let record = std::fs::read_to_string(&file).unwrap();
        let lines: Vec<_> = record.lines().collect();
        assert!(lines[0].contains("\"start\""), "{name}: {}", lines[0]);
        assert!(lines[1].contains("\"arrive\""), "{name}: {}", lines[1]);
        assert!(lines[lines.len() - 1].contains("\"leave\""), "{name}");
        fail_in_clap(name, &["--compare", "--record", "x"], "--record");
    }

    let missing = folder.path().join("missing/record.jsonl");
    let Outcome { code, stderr, .. } = run("06_batching", &["--record", missing.to_str().unwrap()]);
    assert!(code == Some(1) && stderr.contains("missing"), "{stderr}");
}
