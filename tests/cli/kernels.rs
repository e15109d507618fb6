//! `10_kernels`: the layers of a pass under the roof, and the bits of sums.

use super::*;

const KERNELS: &str = "10_kernels";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn the_layers_of_a_prefill_and_of_a_decode_step_are_timed() {
    let report = succeed_in_json(KERNELS, &["--device", "cpu", "--tokens", "20"]);
    let roof = |side: &str| number(&report["roof"][side]);
    let ridge = roof("flops_per_second") / roof("bytes_per_second");
    assert!(ridge > 0.0 && ridge.is_finite());

    let passes = report["passes"].as_array().unwrap();
    let names: Vec<_> = passes.iter().map(|pass| pass["pass"].as_str().unwrap()).collect();
    assert_eq!(names, ["prefill", "decode"]);
    for (pass, tokens) in passes.iter().zip([20, 1]) {
        let layers = pass["layers"].as_array().unwrap();
        let call =
            |l: &Value| (l["layers"].as_str().unwrap().to_owned(), l["calls"].as_u64().unwrap());
        let calls: Vec<_> = layers.iter().map(call).collect();
        // ember has five blocks.
        let expected = [
            ("embedding", 1),
            ("norms", 11),
            ("q, k, v", 5),
            ("rope", 10),
            ("attention", 5),
            ("output", 5),
            ("gate, up", 5),
            ("activation", 5),
            ("down", 5),
            ("head", 1),
        ];
        assert_eq!(calls, expected.map(|(name, calls)| (name.to_owned(), calls)));
        let sum = |field: &str| -> f64 { layers.iter().map(|layer| number(&layer[field])).sum() };
        assert!(sum("seconds") <= number(&pass["seconds"]));
        // A head of 2,048 rows of 192, for one token; and the layers before it, for all.
        let flops =
            |name: &str| number(&layers.iter().find(|l| l["layers"] == name).unwrap()["flops"]);
        assert_eq!(flops("head"), 2.0 * 2048.0 * 192.0);
        assert_eq!(flops("output"), 5.0 * 2.0 * 192.0 * 192.0 * f64::from(tokens));
        if tokens == 20 {
            // Keys and values of two heads of 48, and four of queries and results, in each block.
            let attention = layers.iter().find(|l| l["layers"] == "attention").unwrap();
            assert_eq!(attention["bytes"], 5 * 4 * (2 * 20 * 2 * 48 + 2 * 20 * 4 * 48));
        }
        for layer in layers {
            let intensity = number(&layer["flops"]) / number(&layer["bytes"]);
            let limit = if intensity < ridge { "bytes" } else { "flops" };
            assert_eq!(layer["limit"], limit, "{layer}");
            assert!(number(&layer["share_of_roof"]) > 0.0, "{layer}");
        }
    }
    let text = succeed(KERNELS, &["--device", "cpu", "--tokens", "20"]);
    for word in [
        "roof: reads",
        "prefill: ",
        "decode: ",
        "gate, up",
        "the rest",
    ] {
        assert!(text.contains(word), "{word} is not in {text}");
    }
}

#[test]
fn a_model_without_rotations_or_gates_is_timed_too() {
    let folder = fixture("models/gpt2");
    let args = [
        "--model",
        folder.to_str().unwrap(),
        "--device",
        "cpu",
        "--tokens",
        "9",
    ];
    let report = succeed_in_json(KERNELS, &args);
    let layers = report["passes"][1]["layers"].as_array().unwrap();
    let names: Vec<_> = layers.iter().map(|layer| layer["layers"].as_str().unwrap()).collect();
    assert_eq!(names.last(), Some(&"head"));
    assert!(names.contains(&"q, k, v") && names.contains(&"down") && !names.contains(&"rope"));
}

#[test]
fn the_order_of_a_sum_changes_bits_and_the_way_to_compute_a_text_does_not() {
    let report = succeed_in_json(KERNELS, &["--device", "cpu", "--bits", "--tokens", "20"]);
    let orders = &report["orders"];
    assert_eq!(orders["products"], 512); // ember's d_ff
    for along in orders["along_k"].as_array().unwrap() {
        assert!(along["differ"].as_u64().unwrap() > 0, "{along}");
    }
    let across = orders["example"]["across"]["bits"].as_u64().unwrap() as u32;
    for along in orders["example"]["along"].as_array().unwrap() {
        let bits = along["bits"].as_u64().unwrap() as u32;
        let first = u64::from((bits ^ across).leading_zeros());
        assert_eq!(along["first_bit"].as_u64(), Some(first));
    }
    let ways = report["ways"].as_array().unwrap();
    assert_eq!(ways.len(), 5);
    let hash = ways[0]["logits_hash"].as_str().unwrap();
    assert_eq!(hash.len(), 64);
    for way in ways {
        assert_eq!(way["logits_hash"], hash, "{way}");
    }
    let text = succeed(KERNELS, &["--device", "cpu", "--bits", "--tokens", "20"]);
    assert_eq!(text.matches(&hash[..32]).count(), 5, "{text}");
}

#[test]
fn more_tokens_than_the_context_holds_are_refused() {
    for tokens in ["500", "100000", "18446744073709551615"] {
        fail(KERNELS, &["--tokens", tokens], 2, "context length");
    }
    // 20 steps follow the prompt.
    fail(KERNELS, &["--tokens", "500"], 2, "shorten the prompt by 8 tokens");
    fail_in_clap(KERNELS, &["--tokens", "0"], "--tokens");
    fail_in_clap(KERNELS, &["--prompt-ids", "1"], "--prompt-ids");
}

#[cfg(feature = "ndarray")]
#[test]
fn a_device_without_kernels_is_refused() {
    fail(KERNELS, &["--device", "ndarray"], 2, "`--device cpu`");
}
