//! `14_other_models`.

use super::*;

const OTHER_MODELS: &str = "14_other_models";

fn part(name: &str, more: &[&str]) -> Value {
    succeed_in_json(OTHER_MODELS, &[&["--part", name], more].concat())
}

#[test]
fn layers_are_what_config_json_says() {
    let report = part("layers", &[]);
    let models = report["models"].as_array().unwrap();
    assert_eq!(models.len(), 6);
    for model in models {
        let groups = model["groups"].as_array().unwrap();
        let layers: u64 = groups.iter().map(|group| group["layers"].as_u64().unwrap()).sum();
        let expected = match model["name"].as_str().unwrap() {
            "Gemma 3 1B" => 26,
            "SmolLM3 3B" => 36,
            "Qwen3 30B-A3B" => 48,
            _ => 32,
        };
        assert_eq!(layers, expected, "{model}");
    }
    assert_eq!(models[1]["groups"][0]["window"], 512);
    assert_eq!(models[1]["groups"][1]["window"], Value::Null);

    let file = fixture("models/smollm3/config.json");
    let report = succeed_in_json(OTHER_MODELS, &["--config", file.to_str().unwrap()]);
    assert_eq!(report["models"].as_array().unwrap().len(), 1);
    assert!(report.get("windows").is_none());
    let gpt2 = fixture("models/gpt2/config.json");
    assert!(
        succeed(OTHER_MODELS, &["--config", gpt2.to_str().unwrap()]).contains("that do the same")
    );
}

#[test]
fn behind_the_window_nothing_is_read_and_nothing_is_held() {
    let report = part("windows", &["--tokens", "300", "--window", "64"]);
    let runs = report["windows"].as_array().unwrap();
    let at = |run: usize, length: usize| {
        let steps = runs[run]["length_bytes_blocks"].as_array().unwrap();
        let step = steps.iter().find(|step| step[0] == length).unwrap();
        (step[1].as_u64().unwrap(), step[2].as_u64().unwrap())
    };
    // In each layer; in none; in five of six.
    assert_eq!(at(1, 64).0, at(1, 300).0);
    assert!(at(1, 300).1 <= 3);
    assert!(at(0, 300).0 > 4 * at(0, 64).0);
    assert_eq!(at(0, 300).1, 300_u64.div_ceil(32));
    assert!(at(2, 300).0 > at(1, 300).0 && at(2, 300).0 < at(0, 300).0 / 2);
    assert_eq!(at(2, 300).1, at(0, 300).1);
}

#[test]
fn a_batch_takes_more_experts_than_a_token() {
    let report = part("experts", &["--texts", "64"]);
    for (name, count) in [("experts_8", 8.0), ("experts_128", 128.0)] {
        let batches = report[name]["batches"].as_array().unwrap();
        assert_eq!(batches.len(), 6);
        for batch in batches {
            let [expected, counted] =
                ["expected", "counted"].map(|key| batch[key].as_f64().unwrap());
            assert!((counted / expected - 1.0).abs() < 0.15, "{batch}");
            assert!(counted <= count);
            let gains: Vec<f64> = serde_json::from_value(batch["gains"].clone()).unwrap();
            assert!(gains[0] <= gains[1] && gains[0] <= gains[2], "{batch}");
        }
        // One text reads what a dense model of the same work reads, and the router.
        let bytes: Vec<f64> = serde_json::from_value(batches[0]["bytes"].clone()).unwrap();
        assert!(bytes[0] / bytes[1] < 1.15 && bytes[0] < bytes[2] / 3.0, "{bytes:?}");
    }
}

#[test]
fn what_cannot_be_shown_is_refused() {
    let gemma2 = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/configs/gemma-2-2b.json");
    fail(
        OTHER_MODELS,
        &["--config", gemma2.to_str().unwrap()],
        1,
        "`model_type` is \"gemma2\"",
    );
    fail(OTHER_MODELS, &["--config", "/nowhere.json"], 1, "nowhere.json");
    // Without the feature `plot`, no part has one.
    fail(OTHER_MODELS, &["--part", "layers", "--chart", "layers.svg"], 2, "`--");
    fail_in_clap(OTHER_MODELS, &["--chart", "all.svg"], "--part");
    for texts in ["3", "18446744073709551615"] {
        fail_in_clap(OTHER_MODELS, &["--part", "experts", "--texts", texts], "32");
    }
}
