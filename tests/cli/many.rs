//! `06_batching` and `07_streaming`, which write several texts.

use std::io::Write;

use super::*;

#[test]
fn a_batch_prints_what_each_prompt_gives_alone_in_the_order_given() {
    let prompts = ["One day, a girl called Mia", "The", "Once upon a time"];
    let prompt_args: Vec<&str> = prompts.iter().flat_map(|&text| ["--prompt", text]).collect();
    let short = ["--max-tokens", "12", "--seed", "5"];
    let objects = lines(BATCHING, &[&prompt_args[..], &short].concat());
    assert_eq!(objects.len(), 3);
    for (i, object) in objects.iter().enumerate() {
        let seed = (5 + i).to_string();
        let args = [
            "--prompt",
            prompts[i],
            "--max-tokens",
            "12",
            "--seed",
            &seed,
        ];
        let alone = succeed_in_json(CACHED, &args);
        for key in [
            "prompt_ids",
            "ids",
            "text",
            "finish_reason",
            "kv_cache_bytes",
        ] {
            assert_eq!(object[key], alone[key], "{key} of prompt {i}");
        }
        assert_eq!(object["seed"], 5 + i);
        assert!(object["tokens_per_second"].as_f64().unwrap() > 0.0);
    }
    let length = |i: usize| prompt_ids(&objects[i]).len();
    assert_eq!(objects[0]["padding"], 0, "it is the longest");
    assert_eq!(objects[1]["padding"], length(0) - length(1));

    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(file, "{}\n\n", prompts.join("\n")).unwrap();
    let path = file.path().to_str().unwrap();
    let same = lines(BATCHING, &[&["--prompts-file", path], &short[..]].concat());
    let all_ids = |objects: &[Value]| objects.iter().map(ids).collect::<Vec<_>>();
    assert_eq!(all_ids(&same), all_ids(&objects));
}

/// Ids and texts may be mixed, in any order: each is the prompt that it is alone.
#[test]
fn a_batch_goes_on_from_token_ids_too() {
    let prompts = [
        ["--prompt-ids", "0,12,345"],
        ["--prompt", "The storm"],
        ["--prompt-ids", " 7, 8 "],
        ["--prompt-ids", ""],
        ["--prompt", "It was late"],
    ];
    let objects = lines(BATCHING, &[&prompts.concat()[..], &SHORT].concat());
    assert_eq!(objects.len(), prompts.len());
    for (i, (object, prompt)) in objects.iter().zip(&prompts).enumerate() {
        let seed = (42 + i).to_string();
        let alone = succeed_in_json(CACHED, &[&prompt[..], &["--seed", &seed], &SHORT].concat());
        for key in ["prompt_ids", "ids", "logits_hash"] {
            assert_eq!(object[key], alone[key], "{key} of {prompt:?}");
        }
    }
    assert_eq!(prompt_ids(&objects[0]), [0, 12, 345]);

    let two = ["--prompt", "One day", "--prompt-ids", "99999"];
    fail(BATCHING, &two, 2, "99999 is outside the vocabulary");
    fail_in_clap(BATCHING, &["--prompt-ids", "1,x"], "`x`, but must be a whole number");
    let both = ["--prompt-ids", "1", "--prompts-file", "nowhere"];
    fail_in_clap(BATCHING, &both, "cannot be used with");
}

#[test]
fn a_batch_is_shown_as_texts_and_a_table() {
    let text = succeed(BATCHING, &["--max-tokens", "3", "--ignore-eos"]);
    assert!(text.contains("Once upon a time"), "{text}");
    assert!(text.contains("KV cache"), "{text}");
    assert_eq!(text.matches("as many as were asked for").count(), 4, "{text}");
    assert!(text.contains("are padding."), "{text}");
    assert!(!text.contains('\x1b'), "{text}");
}

#[test]
fn batch_sizes_are_compared() {
    let stdout = succeed(BATCHING, &["--compare", "--max-tokens", "2", "--json"]);
    let report: Value = serde_json::from_str(&stdout).unwrap();
    let rows = report["batch_sizes"].as_array().unwrap();
    let sizes: Vec<u64> = rows.iter().map(|row| row["sequences"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [1, 2, 4, 8, 16]);
    assert!(rows.is_sorted_by_key(|row| row["kv_cache_bytes"].as_u64().unwrap()));
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap();
        let together = number("sequences") / number("seconds_per_token");
        assert!((number("tokens_per_second") / together - 1.0).abs() < 1e-6, "{row}");
    }
    for key in ["throughput_saturates_at", "time_per_token_rises_after"] {
        assert!(sizes.contains(&report[key].as_u64().unwrap()), "{key} of {report}");
    }
    let text = succeed(BATCHING, &["--compare", "--max-tokens", "2"]);
    assert_eq!(text.lines().count(), 9, "{text}");
    assert!(text.contains("Tokens/s in all: highest with "), "{text}");
}

#[test]
fn batch_sizes_are_drawn_where_charts_are_compiled_in() {
    fail_in_clap(BATCHING, &["--chart", "sizes.svg"], "--compare");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sizes.svg");
    let args = [
        "--compare",
        "--max-tokens",
        "1",
        "--chart",
        file.to_str().unwrap(),
    ];
    // Only the package of the examples knows whether they are.
    if run(BATCHING, &args).code == Some(0) {
        let svg = std::fs::read_to_string(file).unwrap();
        assert!(svg.contains("throughput (tokens/s)") && svg.contains("time per token (ms)"));
    } else {
        fail(BATCHING, &args, 2, "add `--features plot`")
    }
}

#[test]
fn what_a_batch_cannot_do_is_one_line() {
    let long = "word ".repeat(3000);
    fail(BATCHING, &["--top-p", "0"], 2, "top_p is 0");
    fail(BATCHING, &["--prompt", "The", "--prompt", &long], 2, "context length");
    fail(BATCHING, &["--prompts-file", "not/here"], 1, "not/here");
    let empty = tempfile::NamedTempFile::new().unwrap();
    fail(
        BATCHING,
        &["--prompts-file", empty.path().to_str().unwrap()],
        1,
        "holds no prompt",
    );
    fail_in_clap(BATCHING, &["--prompt", "a", "--prompts-file", "b"], "cannot be used with");
}

#[test]
fn streaming_collecting_cancelling_and_several_agree() {
    let report = succeed_in_json(STREAMING, &["--max-tokens", "40", "--ignore-eos"]);
    let (stream, collect, cancel) = (&report["stream"], &report["collect"], &report["cancel"]);
    let tokens = stream["tokens"].as_array().unwrap();
    assert_eq!(tokens.len(), 40);
    assert_eq!(stream["finish_reason"], "length");
    assert_eq!(stream["tokens"], collect["tokens"]);
    assert_eq!(stream["text"], collect["text"]);
    assert_eq!(cancel["finish_reason"], "cancelled");
    assert_eq!(cancel["tokens"].as_array().unwrap()[..], tokens[..10]);

    let several = report["several"].as_array().unwrap();
    assert_eq!(several.len(), 3);
    assert_eq!(several[0]["text"], stream["text"], "it has the seed of the first");
    assert_ne!(several[0]["text"], several[1]["text"]);
    for job in several {
        assert_eq!(job["usage"]["completion_tokens"], 40);
        assert!(job["ttft_seconds"].as_f64().unwrap() > 0.0);
    }
    let alone = succeed_in_json(CACHED, &["--max-tokens", "40", "--ignore-eos"]);
    assert_eq!(alone["text"], stream["text"]);
}

#[test]
fn in_a_pipe_columns_are_printed_once() {
    let mut command = example(STREAMING);
    command.args(["--max-tokens", "12", "--ignore-eos"]).env_remove("CLICOLOR_FORCE");
    let output = command.output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains('\x1b'), "{text}");
    let of_three = text.split_once("Three at once").unwrap().1;
    assert_eq!(of_three.matches("12 tokens (as many as were asked for)").count(), 3, "{text}");
    assert!(of_three.contains("   "), "columns: {text}");
    fail(STREAMING, &["--max-tokens", "0"], 2, "max_tokens is 0");
}
