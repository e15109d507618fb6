//! The examples as a person runs them: what they print, where, and with which exit code.

#![cfg(feature = "cli")]

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::program::{Outcome, example, fail, fail_in_clap, run, succeed, succeed_in_json};
use common::{Checkpoint, bundled, copy_of, copy_with_config, device, fixture, load};
use serde_json::{Value, json};
use tempfile::TempDir;

const NAIVE: &str = "00_naive_loop";
const CACHED: &str = "05_kv_cache";

/// All that start from one prompt: they share their flags, and what they say to a wrong one.
const EXAMPLES: [&str; 7] = [
    NAIVE,
    "01_greedy",
    "02_top_k",
    "03_temperature",
    "04_top_p",
    CACHED,
    "07_streaming",
];

/// Flags that make a run short.
const SHORT: [&str; 2] = ["--max-tokens", "5"];

fn ids(report: &Value) -> Vec<u32> {
    serde_json::from_value(report["ids"].clone()).unwrap()
}

fn llama_gqa() -> PathBuf {
    fixture("models/llama-gqa")
}

#[test]
fn flags_out_of_range_exit_with_2() {
    let long = "word ".repeat(3000);
    for name in EXAMPLES {
        for (args, message) in [
            (["--top-p", "0"], "top_p is 0"),
            (["--top-p", "1.5"], "top_p is 1.5"),
            (["--top-p", "-1"], "top_p is -1"),
            (["--top-p", "nan"], "top_p is NaN"),
            (["--temperature", "-1"], "temperature is -1"),
            (["--temperature", "nan"], "temperature is NaN"),
            (["--temperature", "inf"], "temperature is inf"),
            (["--prompt", &long], "context length"),
            (["--prompt-ids", "99999"], "99999 is outside the vocabulary"),
            (["--prompt-ids", "1,4294967295"], "4294967295 is outside the vocabulary"),
        ] {
            fail(name, &args, 2, message);
            fail(name, &[&args[..], &["--json"]].concat(), 2, message);
        }
    }
}

#[test]
fn a_device_that_is_not_compiled_in_exits_with_2() {
    let devices = [
        #[cfg(not(feature = "flex"))]
        "cpu",
        #[cfg(not(feature = "ndarray"))]
        "ndarray",
        #[cfg(not(feature = "cuda"))]
        "cuda",
        #[cfg(not(feature = "wgpu"))]
        "wgpu",
    ];
    for device in devices {
        let message = format!("device `{device}` is not compiled in: add `--features");
        fail(CACHED, &["--device", device], 2, &message);
    }
}

#[cfg(feature = "ndarray")]
#[test]
fn a_type_that_the_device_lacks_exits_with_2() {
    fail(CACHED, &["--device", "ndarray", "--dtype", "f16"], 2, "cannot compute in f16");
}

#[test]
fn flags_that_are_not_understood_are_refused_by_clap() {
    for name in EXAMPLES {
        fail_in_clap(
            name,
            &["--prompt-ids", "1,x"],
            "a token id is `x`, but must be a whole number",
        );
        fail_in_clap(name, &["--prompt-ids", "1,-2"], "a token id is `-2`");
        fail_in_clap(name, &["--prompt-ids", "1", "--prompt", "a"], "cannot be used with");
        fail_in_clap(name, &["--max-tokens", "many"], "--max-tokens");
        fail_in_clap(name, &["--device", "abacus"], "abacus");
        fail_in_clap(name, &["--nonsense"], "--nonsense");
        fail_in_clap(name, &["--system", "Be brief."], "--chat");
        fail_in_clap(name, &["--chat-arg", "a=1"], "--chat");
        fail_in_clap(name, &["--chat", "--chat-arg", "a"], "NAME=VALUE");
        fail_in_clap(name, &["--chat", "--prompt-ids", "1"], "cannot be used with");
    }
}

#[test]
fn help_names_every_flag() {
    for name in EXAMPLES {
        let help = succeed(name, &["--help"]);
        for flag in [
            "--prompt",
            "--prompt-ids",
            "--model",
            "--chat",
            "--system",
            "--chat-arg",
            "--max-tokens",
            "--temperature",
            "--top-p",
            "--seed",
            "--device",
            "--dtype",
            "--ignore-eos",
            "--logprobs",
            "--echo",
            "--score",
            "--json",
        ] {
            assert!(help.contains(flag), "{flag} is not in the help of {name}");
        }
    }
}

#[test]
fn what_has_no_effect_on_greedy_decoding_is_named() {
    let help = succeed("01_greedy", &["--help"]);
    assert!(help.contains("taken whatever --temperature"), "{help}");
    let text = |flags: &[&str]| succeed("01_greedy", &[flags, &["--max-tokens", "30"]].concat());
    assert_eq!(text(&["--temperature", "2", "--top-k", "3", "--seed", "7"]), text(&[]));
    assert_ne!(text(&["--repetition-penalty", "3"]), text(&[]));
}

/// Runs an example on a folder that is damaged by `damage` and expects one line with `message`.
#[track_caller]
fn fail_with_damage(damage: impl FnOnce(&Path), message: &str) {
    let folder = copy_with_config(&llama_gqa(), |_| {});
    damage(folder.path());
    fail(CACHED, &["--model", folder.path().to_str().unwrap()], 1, message);
}

/// Runs an example on a folder whose `config.json` is changed.
#[track_caller]
fn fail_with_config(change: impl FnOnce(&mut Value), message: &str) {
    let folder = copy_with_config(&llama_gqa(), change);
    fail(CACHED, &["--model", folder.path().to_str().unwrap()], 1, message);
}

fn write(folder: &Path, file: &str, bytes: &[u8]) {
    std::fs::write(folder.join(file), bytes).unwrap();
}

#[test]
fn folders_that_hold_no_model_exit_with_1() {
    for file in ["config.json", "model.safetensors", "tokenizer.json"] {
        let remove = |folder: &Path| std::fs::remove_file(folder.join(file)).unwrap();
        fail_with_damage(remove, &format!("it holds no {file}"));
        let make_it_a_folder = |folder: &Path| {
            std::fs::remove_file(folder.join(file)).unwrap();
            std::fs::create_dir(folder.join(file)).unwrap();
        };
        fail_with_damage(make_it_a_folder, file);
    }
    let empty = tempfile::tempdir().unwrap();
    fail(
        CACHED,
        &["--model", empty.path().to_str().unwrap()],
        1,
        "it holds no config.json",
    );
    let missing = empty.path().join("nothing/here");
    fail(NAIVE, &["--model", missing.to_str().unwrap()], 1, "nothing/here");
    let file = llama_gqa().join("config.json");
    fail(NAIVE, &["--model", file.to_str().unwrap()], 1, "config.json");
}

#[test]
fn configurations_that_are_not_understood_exit_with_1() {
    for text in [
        &b""[..],
        b"{",
        b"[]",
        b"nonsense\nin two lines",
        b"{\"model_type\": 3}",
        b"\xFF\xFE",
    ] {
        fail_with_damage(|folder| write(folder, "config.json", text), "config.json");
    }
    fail_with_config(|config| config["model_type"] = "mamba".into(), "mamba");
    fail_with_config(|config| config["hidden_act"] = "mish".into(), "mish");
    fail_with_config(
        |config| config["quantization_config"] = json!({"quant_method": "gptq", "bits": 4}),
        "quantization_config",
    );
    fail_with_config(
        |config| config["rope_scaling"] = json!({"type": "yarn", "factor": 2.0}),
        "yarn",
    );
    let generation_config = |folder: &Path| write(folder, "generation_config.json", b"{");
    fail_with_damage(generation_config, "generation_config.json");
}

#[test]
fn configurations_with_sizes_that_cannot_be_exit_with_1() {
    for field in [
        "vocab_size",
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "num_key_value_heads",
        "head_dim",
        "intermediate_size",
        "max_position_embeddings",
    ] {
        for size in [0, 1_000_000_000_000_000_000u64] {
            fail_with_config(|config| config[field] = size.into(), "config");
        }
    }
    fail_with_config(|config| config["num_key_value_heads"] = 3.into(), "num_key_value_heads");
    fail_with_config(|config| config["head_dim"] = 7.into(), "head_dim");
}

#[test]
fn a_tokenizer_that_is_larger_than_the_embedding_exits_with_1() {
    // Its largest id is 319; the embedding of this model ends at 287.
    let folder = copy_of(&fixture("models/qwen2"));
    let tokenizer = std::fs::read(llama_gqa().join("tokenizer.json")).unwrap();
    write(folder.path(), "tokenizer.json", &tokenizer);
    let message = "has token id 319, but the model's vocabulary ends at 287";
    fail(CACHED, &["--model", folder.path().to_str().unwrap()], 1, message);
}

/// Tensors that no config asks for are worth a word, unless they are known to be of no use.
#[test]
fn a_tensor_that_is_not_used_is_reported_in_one_line() {
    let report = |name: &str| {
        let folder = copy_of(&llama_gqa());
        let path = folder.path().join("model.safetensors");
        let mut checkpoint = Checkpoint::parse(&std::fs::read(&path).unwrap());
        checkpoint.add(name, "F32", &[2], &[0; 8]);
        std::fs::write(&path, checkpoint.to_bytes()).unwrap();
        let args = [
            "--model",
            folder.path().to_str().unwrap(),
            "--max-tokens",
            "1",
        ];
        let outcome = run(CACHED, &args);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let warnings = outcome.stderr.lines().filter(|line| line.starts_with("warning"));
        warnings.map(str::to_owned).collect::<Vec<_>>()
    };
    let found = report("model.layers.0.self_attn.q_norm.weight");
    assert!(matches!(&found[..], [line] if line.contains("q_norm.weight")), "{found:?}");
    assert!(report("model.layers.0.self_attn.rotary_emb.inv_freq").is_empty());
    assert!(report("lm_head.weight").is_empty());
}

/// A product of two sizes may overflow where neither is absurd alone.
#[test]
fn a_head_size_whose_product_overflows_exits_with_1() {
    fail_with_config(|config| config["head_dim"] = (1u64 << 63).into(), "head_dim");
}

/// A model may have a context for which no machine has a cache.
#[test]
fn a_cache_that_is_too_large_exits_with_2() {
    let folder = copy_with_config(&llama_gqa(), |config| {
        config["max_position_embeddings"] = i32::MAX.into();
    });
    let model = ["--model", folder.path().to_str().unwrap()];
    succeed(CACHED, &[&model[..], &SHORT].concat());
    // Some systems promise any memory, as Linux does where it is told to.
    let promises = std::fs::read_to_string("/proc/sys/vm/overcommit_memory");
    if promises.is_ok_and(|setting| setting.trim() != "1") {
        let all = usize::MAX.to_string();
        let args = [&model[..], &["--max-tokens", &all]].concat();
        // Not `CACHED`, which shows the prompt before it begins.
        fail(
            "01_greedy",
            &args,
            2,
            "which this machine does not give: ask for fewer new tokens",
        );
    }
}

#[test]
fn damaged_weights_exit_with_1() {
    let whole = std::fs::read(llama_gqa().join("model.safetensors")).unwrap();
    let header = u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize;
    for length in [
        0,
        4,
        8,
        8 + header / 2,
        8 + header,
        whole.len() - 1000,
        whole.len() - 1,
    ] {
        let truncate = |folder: &Path| write(folder, "model.safetensors", &whole[..length]);
        fail_with_damage(truncate, "is not a whole safetensors file");
    }
    for length in [1u64 << 60, u64::MAX] {
        let bytes = [&length.to_le_bytes(), &whole[8..]].concat();
        fail_with_damage(
            |folder| write(folder, "model.safetensors", &bytes),
            "is not a whole safetensors file",
        );
    }
}

#[test]
fn weights_that_do_not_fit_the_configuration_exit_with_1() {
    fail_with_config(
        |config| config["vocab_size"] = 321.into(),
        "`model.embed_tokens.weight` has shape [320, 64], but the configuration asks for [321, 64]",
    );
    fail_with_config(|config| config["intermediate_size"] = 161.into(), "mlp.gate_proj.weight");
    fail_with_config(|config| config["num_key_value_heads"] = 4.into(), "k_proj.weight");
    fail_with_config(
        |config| config["num_hidden_layers"] = 4.into(),
        "tensor `model.layers.3.input_layernorm.weight` is missing",
    );
    fail_with_config(
        |config| config["tie_word_embeddings"] = false.into(),
        "tensor `lm_head.weight` is missing",
    );
    fail_with_config(|config| config["attention_bias"] = true.into(), "q_proj.bias` is missing");
}

#[test]
fn files_that_are_no_tokenizer_exit_with_1() {
    for text in [
        &b""[..],
        b"{}",
        b"[1, 2]",
        b"not\njson",
        b"{\"model\": {\"type\": \"BPE\"}}",
        b"\xFF",
    ] {
        fail_with_damage(|folder| write(folder, "tokenizer.json", text), "is not a tokenizer");
    }
}

#[test]
fn no_prompt_starts_from_the_begin_of_sequence_token() {
    for prompt in [["--prompt", ""], ["--prompt-ids", ""]] {
        for name in [NAIVE, CACHED] {
            let report = succeed_in_json(name, &[&prompt[..], &SHORT].concat());
            assert_eq!(report["prompt_ids"], json!([0]), "{name} {prompt:?}");
        }
        let model = llama_gqa();
        let args = [&prompt[..], &["--model", model.to_str().unwrap()], &SHORT].concat();
        assert_eq!(succeed_in_json(CACHED, &args)["prompt_ids"], json!([0]), "{prompt:?}");
    }
}

#[test]
fn no_prompt_and_no_token_to_begin_with_exits_with_2() {
    let folder = copy_with_config(&llama_gqa(), |config| {
        config.as_object_mut().unwrap().remove("bos_token_id");
    });
    write(folder.path(), "generation_config.json", b"{}");
    for prompt in [["--prompt", ""], ["--prompt-ids", ""]] {
        let args = [&prompt[..], &["--model", folder.path().to_str().unwrap()]].concat();
        fail(CACHED, &args, 2, "the prompt is empty");
    }
}

/// A model of the fixtures with a chat template.
fn chat_model(template: &str) -> TempDir {
    let folder = copy_with_config(&llama_gqa(), |_| {});
    let config = json!({
        "bos_token": {"content": "<s>"},
        "eos_token": "</s>",
        "add_bos_token": true,
        "chat_template": template,
    });
    write(folder.path(), "tokenizer_config.json", config.to_string().as_bytes());
    folder
}

#[test]
fn a_model_without_a_chat_template_is_not_asked() {
    for name in [NAIVE, CACHED] {
        fail(name, &["--chat"], 2, "this model has no chat template");
        let model = llama_gqa();
        let args = ["--chat", "--model", model.to_str().unwrap(), "--json"];
        fail(name, &args, 2, "this model has no chat template");
    }
}

#[test]
fn a_chat_prompt_is_what_the_template_makes_of_it() {
    let folder = chat_model(
        "{{ bos_token }}{% for m in messages %}{{ m.role[0] ~ m.content }}{% endfor %}\
         {{ loud if loud is defined }}",
    );
    let model = folder.path().to_str().unwrap();
    let tokenizer = load("llama-gqa", &device()).tokenizer;
    for (args, text) in [
        (&["--chat", "--prompt", "one"][..], "uone"),
        (&["--chat", "--prompt", "one", "--system", "two"], "stwouone"),
        (&["--chat", "--prompt", "one", "--chat-arg", "loud=3"], "uone3"),
        (&["--chat", "--prompt", "one", "--chat-arg", "loud=a=b"], "uonea=b"),
    ] {
        let expected = [&[0][..], &tokenizer.encode(text).unwrap()].concat();
        for name in [NAIVE, CACHED] {
            let args = [args, &["--model", model], &SHORT].concat();
            assert_eq!(succeed_in_json(name, &args)["prompt_ids"], json!(expected), "{args:?}");
        }
    }
    // `chat_template.jinja` comes first.
    write(folder.path(), "chat_template.jinja", b"{{ messages[0].content }}!");
    let args = [&["--chat", "--prompt", "one", "--model", model], &SHORT[..]].concat();
    let expected = tokenizer.encode("one!").unwrap();
    assert_eq!(succeed_in_json(CACHED, &args)["prompt_ids"], json!(expected));
}

/// Of a conversation, only the answer is shown.
#[test]
fn a_chat_prints_the_answer_alone() {
    let folder = chat_model("{{ bos_token }}{{ messages[0].content }}");
    let model = folder.path().to_str().unwrap();
    let args = [&["--chat", "--prompt", "one", "--model", model], &SHORT[..]].concat();
    for name in [NAIVE, CACHED] {
        let report = succeed_in_json(name, &args);
        let text = report["text"].as_str().unwrap();
        assert!(!text.is_empty());
        assert_eq!(succeed(name, &args), format!("{text}\n"));
    }
}

#[test]
fn a_chat_template_that_fails_exits_with_1() {
    for template in [
        "{{ raise_exception('say please') }}",
        "{% if %}",
        "{{ nothing.more }}",
    ] {
        let folder = chat_model(template);
        let model = folder.path().to_str().unwrap();
        fail(CACHED, &["--chat", "--model", model], 1, "tokenizer_config.json");
        // It does not stand in the way of a text.
        succeed(CACHED, &[&["--model", model], &SHORT[..]].concat());
    }
    let folder = chat_model("");
    write(folder.path(), "tokenizer_config.json", b"{");
    fail(
        CACHED,
        &["--model", folder.path().to_str().unwrap()],
        1,
        "tokenizer_config.json",
    );
}

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

#[cfg(not(feature = "hub"))]
#[test]
fn a_model_of_the_hub_asks_for_the_feature() {
    for name in [NAIVE, CACHED] {
        fail(
            name,
            &["--model", "hf:org/name@v1"],
            2,
            "`hf:org/name@v1` is on the Hugging Face Hub",
        );
        fail(name, &["--model", "hf:org/name"], 2, "add `--features hub`");
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
            "device",
            "dtype",
        ];
        assert_eq!(keys, BTreeSet::from(expected), "{name}");
        assert!(ids(&report).len() <= 5);
        assert!(["length", "eos"].contains(&report["finish_reason"].as_str().unwrap()));
        assert!(report["prefill_seconds"].as_f64().unwrap() > 0.0);
        assert!(report["decode_seconds"].as_f64().unwrap() >= 0.0);
        assert_eq!(report["kv_cache_bytes"].as_u64().unwrap() > 0, has_cache);
        assert_eq!(report["dtype"], "f32");

        // Prompt and text are what all ids decode to.
        let tokenizer = bundled(&device()).tokenizer;
        let prompt: Vec<u32> = serde_json::from_value(report["prompt_ids"].clone()).unwrap();
        let all = [&prompt[..], &ids(&report)].concat();
        let shown = tokenizer.decode(&prompt).unwrap() + report["text"].as_str().unwrap();
        assert_eq!(shown, tokenizer.decode(&all).unwrap());
    }
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
