//! What is printed, and when a text ends.

use super::*;

/// A chat model has a token for the end of a turn beside that for the end of a text.
#[test]
fn every_eos_of_the_generation_config_ends_a_text() {
    let folder = chat_model("{{ messages[0].content }}");
    let model = folder.path().to_str().unwrap();
    let args = [
        "--chat",
        "--model",
        model,
        "--temperature",
        "0",
        "--max-tokens",
        "20",
    ];
    let all = ids(&succeed_in_json(CACHED, &args));
    let end = *all.iter().find(|id| all[0] != **id).unwrap();
    let length = all.iter().position(|id| *id == end).unwrap();
    let config = json!({"eos_token_id": [1, end]});
    write(folder.path(), "generation_config.json", config.to_string().as_bytes());
    for name in [NAIVE, CACHED] {
        let report = succeed_in_json(name, &args);
        assert_eq!(ids(&report), all[..length], "{name}");
        assert_eq!(report["finish_reason"], "eos", "{name}");
    }
}

#[test]
fn a_text_is_scored_wherever_the_flag_is() {
    let score = ["--score", "--json", "--prompt", "One day"];
    let expected = succeed(CACHED, &score);
    for name in [
        NAIVE,
        STREAMING,
        "11_gpus",
        "12_quantized",
        "13_guess_ahead",
        "15_constrained",
    ] {
        assert_eq!(succeed(name, &score), expected, "{name}");
    }
}

#[test]
fn json_is_one_object_that_tells_all() {
    for (name, has_cache) in [(NAIVE, false), (CACHED, true)] {
        let report = succeed_in_json(name, &SHORT);
        let keys: BTreeSet<&str> = report.as_object().unwrap().keys().map(String::as_str).collect();
        let expected = [
            "prompt_ids",
            "ids",
            "text",
            "finish_reason",
            "prefill_seconds",
            "decode_seconds",
            "kv_cache_bytes",
            "drafted",
            "accepted",
            "logits_hash",
            "device",
            "dtype",
            "weight_formats",
        ];
        assert_eq!(keys, BTreeSet::from(expected), "{name}");
        assert!(ids(&report).len() <= 5);
        assert!(["length", "eos"].contains(&report["finish_reason"].as_str().unwrap()));
        assert!(report["prefill_seconds"].as_f64().unwrap() > 0.0);
        assert!(report["decode_seconds"].as_f64().unwrap() >= 0.0);
        assert_eq!(report["kv_cache_bytes"].as_u64().unwrap() > 0, has_cache);
        assert_eq!(report["dtype"], "f32");
        assert_eq!(report["weight_formats"], json!(["f32"]));

        // Prompt and text are what all ids decode to.
        let tokenizer = bundled(&device()).tokenizer;
        let prompt = prompt_ids(&report);
        let all = [&prompt[..], &ids(&report)].concat();
        let shown = tokenizer.decode(&prompt).unwrap() + report["text"].as_str().unwrap();
        assert_eq!(shown, tokenizer.decode(&all).unwrap());
    }
}

/// Without `--dtype`, a checkpoint is in the format of its files, and so are its keys and values.
#[cfg(feature = "flex")]
#[test]
fn a_checkpoint_is_loaded_in_its_own_format() {
    let folder = fixture("models/gemma3");
    let model = [
        "--device",
        "cpu",
        "--prompt",
        "one",
        "--model",
        folder.to_str().unwrap(),
    ];
    let report = |flags: &[&str]| succeed_in_json(CACHED, &[&SHORT[..], &model, flags].concat());
    let usual = report(&[]);
    assert_eq!((&usual["dtype"], &usual["weight_formats"]), (&json!("bf16"), &json!(["bf16"])));
    let same = ["dtype", "weight_formats", "kv_cache_bytes", "logits_hash"];
    for flags in [["--dtype", "auto"], ["--dtype", "bf16"]] {
        let other = report(&flags);
        assert!(same.iter().all(|key| usual[key] == other[key]), "{flags:?}");
    }
    let f32 = report(&["--dtype", "f32"]);
    assert_eq!((&f32["dtype"], &f32["weight_formats"]), (&json!("f32"), &json!(["f32"])));
    assert!(f32["kv_cache_bytes"].as_u64() > usual["kv_cache_bytes"].as_u64());
}

#[cfg(feature = "flex")]
#[test]
fn quantized_weights_are_named() {
    let args = [&SHORT[..], &["--device", "cpu", "--quantize", "int4"]].concat();
    let report = succeed_in_json(CACHED, &args);
    assert_eq!(report["weight_formats"], json!(["int4", "int8"]));
    let Outcome { code, stderr, .. } = run(CACHED, &args);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("in int4 and int8"), "{stderr}");
}

/// With `--quantize`, the embedding and the head are in int8, whichever format it names.
#[cfg(feature = "flex")]
#[test]
fn the_embedding_is_in_int8_unless_another_format_is_given() {
    let report = |flags: &[&str]| {
        succeed_in_json(CACHED, &[&SHORT[..], &["--device", "cpu"], flags].concat())
    };
    let embedding = "--quantize-embedding";
    for format in ["int8", "int4"] {
        let usual = report(&["--quantize", format]);
        let int8 = report(&["--quantize", format, embedding, "int8"]);
        assert_eq!(usual["logits_hash"], int8["logits_hash"]);
        for other in ["f32", "f16", "bf16"] {
            let report = report(&["--quantize", format, embedding, other]);
            assert_eq!(report["weight_formats"], json!([format, other]));
            assert_ne!(report["logits_hash"], usual["logits_hash"]);
        }
    }
    // Ember's file is in f16, so f16 holds all of it.
    let [f32, f16] = ["f32", "f16"].map(|other| report(&["--quantize", "int4", embedding, other]));
    assert_eq!(f32["logits_hash"], f16["logits_hash"]);
    // Without `--quantize`, the embedding is as all else.
    assert_eq!(report(&[])["logits_hash"], report(&[embedding, "f32"])["logits_hash"]);
    assert_eq!(report(&[])["weight_formats"], json!(["f32"]));
}

#[test]
fn without_json_standard_output_is_the_text_alone() {
    for name in [NAIVE, CACHED] {
        let report = succeed_in_json(name, &SHORT);
        let Outcome { code, stdout, stderr } = run(name, &SHORT);
        assert_eq!(code, Some(0), "{stderr}");
        assert_eq!(stdout, format!("Once upon a time{}\n", report["text"].as_str().unwrap()));
        assert!(stderr.contains("tokens/s"), "{stderr}");
    }
}

#[test]
fn logprobs_have_one_entry_for_each_id() {
    for name in [NAIVE, CACHED] {
        let args = ["--max-tokens", "20", "--logprobs", "3", "--ignore-eos"];
        let report = succeed_in_json(name, &args);
        let ids = ids(&report);
        let rows = report["logprobs"].as_array().unwrap();
        assert_eq!(ids.len(), 20);
        assert_eq!(rows.len(), 20);
        for (row, id) in rows.iter().zip(ids) {
            assert_eq!(row["id"], id);
            let logprob = row["logprob"].as_f64().unwrap();
            let top: Vec<(u32, f64)> = serde_json::from_value(row["top"].clone()).unwrap();
            assert_eq!(top.len(), 3);
            assert!(top.is_sorted_by(|a, b| a.1 >= b.1), "{top:?}");
            assert!(logprob <= top[0].1 && top[0].1 <= 0.0, "{row}");
            match top.iter().find(|(other, _)| *other == id) {
                Some((_, same)) => assert_eq!(*same, logprob),
                None => assert!(logprob <= top[2].1, "{row}"),
            }
        }
    }
    let none = succeed_in_json(CACHED, &["--max-tokens", "2", "--ignore-eos", "--logprobs", "0"]);
    assert_eq!(none["logprobs"][1]["top"], json!([]));
    // For a person, a line for each token.
    let text = succeed(CACHED, &["--max-tokens", "2", "--ignore-eos", "--logprobs", "1"]);
    assert_eq!(text.lines().filter(|line| line.ends_with('%')).count(), 2, "{text}");
}

#[test]
fn the_same_seed_writes_the_same_ids_in_both_examples() {
    let run = |name, seed| {
        let args = [
            "--max-tokens",
            "40",
            "--temperature",
            "1.5",
            "--ignore-eos",
            "--seed",
            seed,
        ];
        ids(&succeed_in_json(name, &args))
    };
    let seven = run(CACHED, "7");
    assert_eq!(seven.len(), 40);
    assert_eq!(seven, run(CACHED, "7"));
    assert_eq!(seven, run(NAIVE, "7"));
    assert_ne!(seven, run(CACHED, "8"));
}

#[test]
fn temperature_zero_has_no_use_for_the_seed() {
    let run = |name, seed| {
        let args = [
            "--max-tokens",
            "40",
            "--temperature",
            "0",
            "--ignore-eos",
            "--seed",
            seed,
        ];
        ids(&succeed_in_json(name, &args))
    };
    let greedy = run(CACHED, "1");
    assert_eq!(greedy, run(CACHED, "2"));
    assert_eq!(greedy, run(NAIVE, "3"));
}

/// As `head` does: it reads a little and goes.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let model = llama_gqa();
    let compare = [
        "--compare",
        "--model",
        model.to_str().unwrap(),
        "--prompt-ids",
        "5",
    ];
    for (name, args) in [
        (NAIVE, &SHORT[..]),
        (CACHED, &SHORT),
        (NAIVE, &["--json", "--max-tokens", "2"]),
        (CACHED, &["--json", "--max-tokens", "2"]),
        (CACHED, &["--logprobs", "2", "--max-tokens", "2"]),
        (CACHED, &compare),
        (CACHED, &["--score"]),
        ("01_greedy", &SHORT),
        ("02_top_k", &SHORT),
        ("03_temperature", &SHORT),
        ("04_top_p", &SHORT),
        (STREAMING, &SHORT),
        (BATCHING, &SHORT),
        ("08_scheduler", &SHORT),
        ("burn", &[]),
        ("tokens", &[]),
        ("states", &["--part", "hand"]),
    ] {
        let mut command = example(name);
        command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{name} {args:?}: {stderr}");
        assert_eq!(stderr, "", "{name} {args:?}");
    }
}

/// `2>&1 | head -1` closes both. What was to be said there is lost; what was to be done is done.
#[test]
fn a_standard_error_that_nobody_reads_changes_no_exit_code() {
    let warned = with_tensor("surplus");
    let warned = [
        "--model",
        warned.path().to_str().unwrap(),
        "--max-tokens",
        "1",
    ];
    for (args, code) in [
        (&SHORT[..], 0),
        (&["--json", "--max-tokens", "2"], 0),
        (&warned, 0),
        (&["--help"], 0),
        (&["--top-p", "0"], 2),
        (&["--nonsense"], 2),
        (&["--model", "nothing/here"], 1),
    ] {
        for closes_output in [false, true] {
            let mut child = example(CACHED)
                .args(args)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            drop(child.stderr.take());
            if closes_output {
                drop(child.stdout.take());
            }
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(code), "{args:?}");
            assert!(closes_output || code != 0 || !output.stdout.is_empty(), "{args:?}");
        }
    }
}

/// A full disk is no reader that went away.
#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_written_is_an_error() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for (name, args) in [
        (CACHED, &SHORT[..]),
        ("02_top_k", &SHORT),
        (BATCHING, &SHORT),
        (STREAMING, &SHORT),
        ("burn", &[]),
        ("tokens", &["--json"]),
    ] {
        let output = example(name).args(args).stdout(full()).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}: {stderr}");
        assert!(stderr.starts_with("error: cannot write the output: "), "{name}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{name}: {stderr}");
        let both = example(name).args(args).stdout(full()).stderr(full()).status().unwrap();
        assert_eq!(both.code(), Some(1), "{name}");
    }
}

/// On the small fixture, which is quick: its context ends the long rows early.
#[test]
fn compare_has_a_row_for_each_length() {
    let model = llama_gqa();
    let args = [
        "--compare",
        "--model",
        model.to_str().unwrap(),
        "--prompt-ids",
        "5",
    ];
    let report = succeed_in_json(CACHED, &args);
    let rows = report["tokens_per_second"].as_array().unwrap();
    let lengths: Vec<u64> = rows.iter().map(|row| row["new_tokens"].as_u64().unwrap()).collect();
    assert_eq!(lengths, [32, 64, 128, 256, 480]);
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap();
        assert!(number("naive") > 0.0 && number("cached") > 0.0, "{row}");
        assert!((number("ratio") - number("cached") / number("naive")).abs() < 1e-6, "{row}");
    }
    let table = succeed(CACHED, &args);
    assert_eq!(table.lines().count(), 6, "{table}");
}
