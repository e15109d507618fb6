//! Folders that are no model, or a damaged one.

use super::*;

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
        |config| config["quantization_config"] = json!({"quant_method": "aqlm", "bits": 4}),
        "quantization_config",
    );
    fail_with_config(
        |config| config["rope_scaling"] = json!({"type": "ntk", "factor": 2.0}),
        "ntk",
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

/// The tokenizer of Gemma 3 has one token more than the models of text alone have rows: it stands for
/// an image. Only a prompt with it is refused.
#[test]
fn an_added_token_may_be_without_a_row() {
    let folder = copy_of(&fixture("models/qwen2"));
    let image = json!({"id": 288, "content": "<image>", "single_word": false, "lstrip": false,
        "rstrip": false, "normalized": false, "special": true});
    edit_json(&folder.path().join("tokenizer.json"), |json| {
        json["added_tokens"].as_array_mut().unwrap().push(image);
    });
    let model = folder.path().to_str().unwrap();
    succeed(CACHED, &[&["--model", model, "--prompt", "one"][..], &SHORT].concat());
    let args = ["--model", model, "--prompt", "one<image>"];
    fail(CACHED, &args, 2, "token id 288 is outside the vocabulary");
}

/// A stack that no memory is large enough for: every thread is refused, as where a container
/// allows no more processes.
#[cfg(target_os = "linux")]
#[test]
fn a_system_that_grants_no_threads_is_an_error() {
    for name in [NAIVE, CACHED, BATCHING, STREAMING] {
        let output =
            example(name).env("RUST_MIN_STACK", (1u64 << 60).to_string()).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}: {stderr}");
        assert!(stderr.starts_with("error: cannot start the threads"), "{name}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{name}: {stderr}");
    }
}

/// Tensors that no config asks for are worth a word, unless they are known to be of no use.
#[test]
fn a_tensor_that_is_not_used_is_reported_in_one_line() {
    let report = |name: &str| {
        let folder = with_tensor(name);
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
}

/// A product of two sizes may overflow where neither is absurd alone.
#[test]
fn a_head_size_whose_product_overflows_exits_with_1() {
    fail_with_config(|config| config["head_dim"] = (1u64 << 63).into(), "head_dim");
}

/// Where memory is taken as it is written to, room for more tokens than any machine has memory
/// for costs nothing.
#[test]
fn a_text_that_ends_takes_no_memory_for_what_might_have_come() {
    let folder = copy_with_config(&llama_gqa(), |config| {
        config["max_position_embeddings"] = i32::MAX.into();
        config["eos_token_id"] = (0..320).collect::<Vec<u32>>().into();
    });
    let all = usize::MAX.to_string();
    let args = [
        "--model",
        folder.path().to_str().unwrap(),
        "--max-tokens",
        &all,
    ];
    for name in [CACHED, "01_greedy"] {
        succeed(name, &args);
    }
}

/// An embedding of half a terabyte, in a file that takes no room on the disk.
#[cfg(target_os = "linux")]
#[test]
fn weights_that_are_larger_than_the_memory_exit_with_1() {
    const ROWS: u64 = 2_000_000_000;
    let folder = copy_with_config(&llama_gqa(), |config| config["vocab_size"] = ROWS.into());
    let bytes = embed_in_a_hole(folder.path(), ROWS);
    let message = format!("the weights take {bytes} bytes, more memory");
    fail(CACHED, &["--model", folder.path().to_str().unwrap()], 1, &message);
}

/// A pipe waits for whoever writes to it, and `/dev/zero` never ends.
#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_not_read() {
    let index = "model.safetensors.index.json";
    for file in [
        "config.json",
        "generation_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "chat_template.jinja",
        "model.safetensors",
        index,
    ] {
        let pipe = |path: &Path| {
            assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        };
        let zeros = |path: &Path| std::os::unix::fs::symlink("/dev/zero", path).unwrap();
        for put in [&pipe as &dyn Fn(&Path), &zeros] {
            let damage = |folder: &Path| {
                let _ = std::fs::remove_file(folder.join(file));
                if file == index {
                    std::fs::remove_file(folder.join("model.safetensors")).unwrap();
                }
                put(&folder.join(file));
            };
            fail_with_damage(damage, &format!("{file}\": it is not a regular file"));
        }
    }
}

/// A file of zeros that takes no room on the disk.
#[test]
fn a_file_that_is_larger_than_any_such_file_is_not_read() {
    for file in ["config.json", "tokenizer.json", "chat_template.jinja"] {
        let grow = |folder: &Path| {
            let file = std::fs::File::create(folder.join(file)).unwrap();
            file.set_len(1 << 40).unwrap();
        };
        fail_with_damage(grow, &format!("{file}\": it has more than"));
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

/// A panic inside the crate that reads tokenizers is an error like others: one line, and no report of
/// a panic before it.
#[test]
fn a_tokenizer_that_panics_is_one_line() {
    let folder = copy_of(&llama_gqa());
    let token = json!({"SpecialToken": {"id": "<s>", "type_id": 0}});
    let template = json!({
        "type": "TemplateProcessing",
        "single": [token, {"Sequence": {"id": "A", "type_id": 0}}, token],
        "pair": [],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}},
    });
    edit_json(&folder.path().join("tokenizer.json"), |json| {
        json["post_processor"] = json!({"type": "Sequence", "processors": [template, template]});
    });
    let Outcome { code, stderr, .. } = run(CACHED, &["--model", folder.path().to_str().unwrap()]);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(
        stderr.starts_with("error: ") && stderr.contains("`tokenizers` fails on it"),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}
