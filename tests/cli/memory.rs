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
    let common = ["--max-tokens", "60", "--ignore-eos"];
    lines(BATCHING, &[&prompts[..], &common, args].concat())
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
    fail(BATCHING, &budget, 1, "(`--kv-cache-bytes`, `--max-tokens`)");
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
    for name in [CACHED, BATCHING, STREAMING] {
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
    let Outcome { stderr, .. } = run(BATCHING, &["--block-report", "--max-tokens", "5"]);
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
    assert_eq!(entries[0]["model"]["weights"], "f32");
    assert_eq!(entries[0]["model"]["embedding"], "f32");
    let last = entries.len() - 1;
    assert_eq!(entries[last], json!({"entry": "end", "entries": last}));
    let count = |name: &str| entries.iter().filter(|entry| entry["entry"] == name).count();
    assert_eq!(count("logits"), 3 * 60);
    let events =
        |name: &str| entries.iter().filter(|entry| entry["event"].get(name).is_some()).count();
    assert_eq!((events("arrive"), events("token"), events("leave")), (3, 3 * 60, 3));

    for name in ["08_scheduler", "09_paged_kv"] {
        run(name, &["--max-tokens", "5", "--record", file.to_str().unwrap()]);
        let record = std::fs::read_to_string(&file).unwrap();
        let lines: Vec<_> = record.lines().collect();
        assert!(lines[0].contains("\"start\""), "{name}: {}", lines[0]);
        assert!(lines[1].contains("\"arrive\""), "{name}: {}", lines[1]);
        assert!(lines[lines.len() - 2].contains("\"leave\""), "{name}");
        assert!(lines[lines.len() - 1].contains("\"end\""), "{name}");
        fail_in_clap(name, &["--compare", "--record", "x"], "--record");
        fail_in_clap(name, &["--compare", "--block-report"], "--block-report");
    }

    let missing = folder.path().join("missing/record.jsonl");
    let Outcome { code, stderr, .. } = run(BATCHING, &["--record", missing.to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("cannot write") && stderr.contains("missing"), "{stderr}");
}

/// Runs an example with at most so many bytes of address space.
#[cfg(target_os = "linux")]
fn run_within(bytes: u64, args: &[&str]) -> std::process::Output {
    let program = example(CACHED);
    let limit = format!("ulimit -v {}; exec \"$0\" \"$@\"", bytes >> 10);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &limit]).arg(program.get_program()).args(args).stdin(Stdio::null());
    shell.output().unwrap()
}

/// Weights that do not fit under `ulimit -v` are an error, whatever the limit, and end no process.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_the_address_space_is_a_limit_of_memory() {
    const ROWS: u64 = 1_200_000;
    const BYTES: u64 = ROWS * 64 * 4;
    // What the program takes by itself, within a factor of two.
    let small = |bytes: &u64| run_within(*bytes, &["--max-tokens", "1"]).status.success();
    let least = (27..36).map(|power| 1 << power).find(small).unwrap();

    let folder = copy_with_config(&llama_gqa(), |config| config["vocab_size"] = ROWS.into());
    embed_in_a_hole(folder.path(), ROWS);

    let model = folder.path().to_str().unwrap();
    let args = ["--model", model, "--prompt-ids", "5,6", "--max-tokens", "2"];
    let mut refused = 0;
    for tenths in [0, 5, 9, 10, 11, 12, 14, 17, 20, 30] {
        let limit = least + BYTES * tenths / 10;
        let output = run_within(limit, &args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => {}
            Some(1) => {
                assert!(stderr.contains("the weights take 307"), "{limit}: {stderr}");
                refused += 1;
            }
            code => panic!("{limit}: {code:?}: {stderr}"),
        }
    }
    assert!((1..10).contains(&refused), "{refused} of 10 were refused");
}
