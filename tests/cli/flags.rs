//! Flags that are refused, and what `--help` names.

use super::*;

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
            (["--logit-bias", "3=-101"], "logit_bias is -101 for token id 3"),
            (["--logit-bias", "99999=1"], "logit_bias is for token id 99999"),
            (["--prompt", &long], "context length"),
            (["--prompt-ids", "99999"], "99999 is outside the vocabulary"),
            (["--prompt-ids", "1,4294967295"], "4294967295 is outside the vocabulary"),
        ] {
            fail(name, &args, 2, message);
            fail(name, &[&args[..], &["--json"]].concat(), 2, message);
        }
    }
}

/// A wrong value of each flag whose values are not just any text or path.
#[test]
fn a_wrong_value_is_told_which_ones_are_right() {
    const ANY: [&str; 6] = ["TEXT", "FILE", "FOLDER", "MODEL", "REGEX", "NAME"];
    let mut messages = BTreeSet::new();
    for name in NUMBERED {
        let help = succeed(name, &["--help"]);
        // As in `      --k <K,...>`.
        let flags = help.lines().filter_map(|line| {
            let (flag, value) = line.trim_start().split_once(" <")?;
            let value = value.split(['>', ' ']).next()?;
            flag.split(", ").last().filter(|flag| flag.starts_with("--") && !ANY.contains(&value))
        });
        for flag in flags {
            for wrong in ["x", "-x", "1?", "99999999999999999999999999x"] {
                let given = format!("{flag}={wrong}");
                let Outcome { code, stdout, stderr } = run(name, &[&given]);
                assert_eq!((code, &*stdout), (Some(2), ""), "{name} {given}: {stderr}");
                let (message, _) = stderr.split_once("\n\nFor more").unwrap_or((&stderr, ""));
                messages.insert(message.trim_end().replace('\n', " "));
            }
        }
    }
    assert!(messages.len() > 100, "{}", messages.len());
    assert_in_words(&messages.into_iter().collect::<Vec<_>>());
    for (args, needed) in [
        (["--top-k", "-1"], "a whole number of 0 or more is needed"),
        (["--seed", "18446744073709551616"], "a smaller whole number is needed"),
        (["--chunk", "0"], "a whole number of 1 or more is needed"),
        (["--top-p", "most"], "a number is needed, greater than 0 and at most 1"),
        (["--min-p", "1,5"], "a number is needed, from 0 to 1"),
        (["--kv-cache-bytes", "1 GX"], "an amount of memory is needed, such as 64MiB"),
    ] {
        fail_in_clap(CACHED, &[&format!("{}={}", args[0], args[1])], needed);
    }
}

#[test]
fn a_file_that_is_no_text_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "bytes", b"a\xffb");
    let path = folder.path().join("bytes");
    let path = path.to_str().unwrap();
    fail(BATCHING, &["--prompts-file", path], 1, "it is no text in UTF-8");
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
        #[cfg(not(feature = "rocm"))]
        "rocm",
        #[cfg(not(feature = "metal"))]
        "metal",
        #[cfg(not(feature = "vulkan"))]
        "vulkan",
        #[cfg(not(feature = "cube-cpu"))]
        "cube-cpu",
        #[cfg(not(feature = "wgpu"))]
        "wgpu",
    ];
    for device in devices {
        let message = format!(
            "device `{device}` is not compiled in: build with the feature `{device}` (add `--features {device}`"
        );
        fail(CACHED, &["--device", device], 2, &message);
    }
}

#[test]
fn a_comparison_of_all_formats_takes_no_format() {
    for args in [["--quantize", "int8"], ["--dtype", "bf16"]] {
        fail("12_quantized", &args, 2, "leave out `--dtype` and `--quantize`");
    }
}

#[cfg(feature = "flex")]
#[test]
fn activations_in_int8_need_quantized_weights() {
    let args = ["--device", "cpu", "--activations", "int8"];
    let message = "leave the activations in f32 (`--quantize int8`, or";
    fail(CACHED, &args, 2, message);
    let quantized = ["--device", "cpu", "--quantize", "int4", "--max-tokens", "5"];
    let report = succeed_in_json(CACHED, &quantized);
    let rounded = succeed_in_json(CACHED, &[&quantized[..], &args[2..]].concat());
    assert_eq!(rounded["weight_formats"], report["weight_formats"]);
    assert_ne!(rounded["logits_hash"], report["logits_hash"]);
    // It compares formats of which some are not quantized.
    let last_seed = [
        "--activations",
        "int8",
        "--max-tokens",
        "5",
        "--seed",
        "18446744073709551615",
    ];
    succeed("12_quantized", &last_seed);
}

#[cfg(feature = "flex")]
#[test]
fn activations_in_bf16_need_weights_in_bf16() {
    let args = ["--device", "cpu", "--activations", "bf16"];
    fail(CACHED, &args, 2, "leave the activations in f32 (`--dtype bf16`, or");
    let in_bf16 = ["--device", "cpu", "--dtype", "bf16", "--max-tokens", "5"];
    let report = succeed_in_json(CACHED, &in_bf16);
    let rounded = succeed_in_json(CACHED, &[&in_bf16[..], &args[2..]].concat());
    assert_eq!(rounded["weight_formats"], report["weight_formats"]);
    assert_ne!(rounded["logits_hash"], report["logits_hash"]);
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
        fail_in_clap(name, &["--logit-bias", "3"], "a logit bias is `3`");
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
    assert_ne!(text(&["--logit-bias", "3=100"]), text(&[]));
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
fn words_without_a_flag_are_the_prompt() {
    let text = |args: &[&str]| succeed(CACHED, &[args, &["--max-tokens", "5"]].concat());
    let expected = text(&["--prompt", "The little dog"]);
    assert_ne!(expected, text(&[]));
    assert_eq!(text(&["The little dog"]), expected);
    assert_eq!(text(&["The", "little", "dog"]), expected);
    fail_in_clap(CACHED, &["The", "--prompt", "dog"], "--prompt");
    fail_in_clap(CACHED, &["The", "--prompt-ids", "1"], "cannot be used with");
}

#[test]
fn help_has_each_flag_under_the_heading_of_its_group() {
    for name in EXAMPLES {
        let help = succeed(name, &["--help"]);
        // A heading begins its line, and what is below it does not.
        let below = |heading: &str| -> String {
            let lines = help.lines().skip_while(|line| *line != heading).skip(1);
            lines.take_while(|line| line.is_empty() || line.starts_with(' ')).collect()
        };
        for (heading, flag) in [
            ("Options:", "--prompt <"),
            ("Options:", "--json"),
            ("Options:", "--ignore-eos"),
            ("Options:", "--max-tokens <"),
            ("Sampling:", "--top-p <"),
            ("Model:", "--kv-cache-bytes <"),
            ("Chat:", "--system <"),
        ] {
            assert!(below(heading).contains(flag), "{name}: {heading} {flag}");
        }
    }
}

#[test]
fn where_nothing_was_computed_no_speed_is_reported() {
    let speeds = |args: &[&str]| run(CACHED, args).stderr.matches("tokens/s").count();
    assert_eq!(speeds(&["--max-tokens", "0"]), 0);
    assert_eq!(speeds(&["--max-tokens", "1"]), 1);
    assert_eq!(speeds(&["--max-tokens", "9"]), 2);
}
