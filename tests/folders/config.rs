//! `config.json` as it is found in the wild: every spelling that is understood, and every
//! field whose value is not computed here, refused by its name.

use serde_json::{Value, json};
use slowburn::model::ModelConfig;
use slowburn::model::activation::Activation;
use slowburn::model::config::{Family, LlamaConfig, RopeConfig, RopeScaling};
use slowburn::{Error, LoadError};

use crate::common::{fixture, read_json};

pub(super) fn config_of(model: &str) -> Value {
    read_json(&fixture(&format!("models/{model}/config.json")))
}

pub(super) fn read(json: &Value) -> slowburn::Result<ModelConfig> {
    ModelConfig::from_json(json.to_string().as_bytes(), "config.json")
}

/// The config of a model with some fields set; `null` stays, `"absent"` takes a field out.
pub(super) fn with(model: &str, changes: &Value) -> Value {
    let mut json = config_of(model);
    for (field, value) in changes.as_object().unwrap() {
        match value.as_str() {
            Some("absent") => drop(json.as_object_mut().unwrap().remove(field)),
            _ => json[field] = value.clone(),
        }
    }
    json
}

pub(super) fn llama_of(config: &ModelConfig) -> &LlamaConfig {
    match &config.family {
        Family::Llama(llama) => llama,
        other => panic!("{other:?}"),
    }
}

pub(super) fn rope(theta: f64, scaling: RopeScaling) -> RopeConfig {
    RopeConfig { scaling, ..RopeConfig::new(theta) }
}

#[test]
fn both_spellings_of_rope_mean_the_same() {
    let numbers = json!({
        "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    });
    let typed = |key: &str, value: &str| {
        let mut rope = numbers.clone();
        rope[key] = value.into();
        rope
    };
    let mut new = typed("rope_type", "llama3");
    new["rope_theta"] = json!(500000.0);
    let mut both_names = typed("rope_type", "llama3");
    both_names["type"] = "llama3".into();
    let llama3 = rope(
        500_000.0,
        RopeScaling::Llama3 {
            factor: 32.0,
            low_freq_factor: 1.0,
            high_freq_factor: 4.0,
            original_context: 8192.0,
        },
    );
    let absent = "absent";
    for changes in [
        json!({"rope_parameters": new}),
        json!({"rope_parameters": absent, "rope_theta": 500000.0, "rope_scaling": typed("rope_type", "llama3")}),
        json!({"rope_parameters": absent, "rope_theta": 500000, "rope_scaling": typed("type", "llama3")}),
        json!({"rope_parameters": absent, "rope_theta": 500000.0, "rope_scaling": both_names}),
    ] {
        let config = read(&with("llama-gqa", &changes)).unwrap();
        assert_eq!(*llama_of(&config).layers[0].rope.as_ref().unwrap(), llama3, "{changes}");
        assert_eq!(config.context_length, 256);
    }

    let linear = rope(10_000.0, RopeScaling::Linear { factor: 4.0 });
    for changes in [
        json!({"rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 10000.0}}),
        json!({"rope_parameters": absent, "rope_scaling": {"type": "linear", "factor": 4.0}}),
    ] {
        let config = read(&with("llama-gqa", &changes)).unwrap();
        assert_eq!(*llama_of(&config).layers[0].rope.as_ref().unwrap(), linear, "{changes}");
    }

    for changes in [
        json!({"rope_parameters": absent}),
        json!({"rope_parameters": null, "rope_scaling": null}),
        json!({"rope_parameters": absent, "rope_theta": 10000.0, "rope_scaling": {"rope_type": "default"}}),
    ] {
        let config = read(&with("llama-gqa", &changes)).unwrap();
        assert_eq!(
            *llama_of(&config).layers[0].rope.as_ref().unwrap(),
            rope(10_000.0, RopeScaling::None),
            "{changes}"
        );
    }
}

#[test]
fn each_family_has_its_biases_and_norms() {
    let traits = |model_type: &str, attention_bias: bool, mlp_bias: bool| {
        let changes = json!({
            "model_type": model_type, "attention_bias": attention_bias, "mlp_bias": mlp_bias,
        });
        let config = read(&with("llama-gqa", &changes)).unwrap();
        let llama = llama_of(&config);
        (llama.qkv_bias, llama.o_bias, llama.mlp_bias, llama.qk_norm.is_some())
    };
    assert_eq!(traits("llama", false, false), (false, false, false, false));
    assert_eq!(traits("llama", true, true), (true, true, true, false));
    assert_eq!(traits("mistral", false, false), (false, false, false, false));
    assert_eq!(traits("qwen2", false, false), (true, false, false, false));
    assert_eq!(traits("qwen3", false, false), (false, false, false, true));
    assert_eq!(traits("qwen3", true, false), (true, true, false, true));
}

#[test]
fn what_a_file_leaves_out_is_what_transformers_assumes() {
    let absent = "absent";
    let gpt2 = with(
        "gpt2",
        &json!({"tie_word_embeddings": absent, "activation_function": absent, "n_inner": absent}),
    );
    let gpt2 = read(&gpt2).unwrap();
    assert_eq!(gpt2.family, Family::Gpt2);
    assert!(gpt2.tied_head);
    assert_eq!((gpt2.activation, gpt2.d_ff), (Activation::GeluTanh, 4 * 48));
    assert_eq!((gpt2.n_heads, gpt2.n_kv_heads, gpt2.head_dim), (4, 4, 12));

    let llama = with(
        "llama-gqa",
        &json!({
            "tie_word_embeddings": absent, "num_key_value_heads": absent, "head_dim": absent,
            "hidden_act": absent, "attention_bias": null,
        }),
    );
    let llama = read(&llama).unwrap();
    assert!(!llama.tied_head);
    assert_eq!((llama.n_heads, llama.n_kv_heads, llama.head_dim), (8, 8, 8));
    assert_eq!(llama.activation, Activation::Silu);

    let qwen3 = read(&with("qwen3", &json!({"head_dim": absent}))).unwrap();
    assert_eq!(qwen3.head_dim, 128);
}

#[test]
fn every_activation_has_its_name() {
    for (name, activation) in [
        ("gelu", Activation::Gelu),
        ("gelu_new", Activation::GeluTanh),
        ("gelu_pytorch_tanh", Activation::GeluTanh),
        ("silu", Activation::Silu),
    ] {
        let gpt2 = read(&with("gpt2", &json!({"activation_function": name}))).unwrap();
        assert_eq!(gpt2.activation, activation);
        let llama = read(&with("llama-gqa", &json!({"hidden_act": name}))).unwrap();
        assert_eq!(llama.activation, activation);
    }
}

#[test]
fn windows_that_are_not_used_do_no_harm() {
    for (model, changes) in [
        ("llama-gqa", json!({"model_type": "mistral", "sliding_window": null})),
        ("llama-gqa", json!({"model_type": "mistral"})), // 4,096 by default, more than the context
        ("qwen2", json!({"sliding_window": 128, "use_sliding_window": false})),
        ("qwen2", json!({"sliding_window": 128, "use_sliding_window": "absent"})),
        ("qwen2", json!({"sliding_window": null, "use_sliding_window": true})),
        ("qwen3", json!({"layer_types": "absent", "sliding_window": "absent"})),
    ] {
        read(&with(model, &changes)).unwrap_or_else(|error| panic!("{model} {changes}: {error}"));
    }
}

/// Field, value and what is supported: the three things that the message has to say.
#[test]
fn what_is_not_computed_is_refused_by_name() {
    for (model, changes, expected_field, expected_value) in [
        ("llama-gqa", json!({"model_type": "mamba"}), "model_type", "\"mamba\""),
        (
            "llama-gqa",
            json!({"model_type": "two\nlines"}),
            "model_type",
            "\"two\\nlines\"",
        ),
        // Layers that keep a state.
        ("llama-gqa", json!({"model_type": "lfm2_vl"}), "model_type", "\"lfm2_vl\""),
        (
            "llama-gqa",
            json!({"model_type": "granitemoehybrid"}),
            "model_type",
            "\"granitemoehybrid\"",
        ),
        ("lfm2", json!({"conv_L_cache": 0}), "conv_L_cache", "0"),
        (
            "lfm2",
            json!({"layer_types": ["conv", "conv", "conv", "conv"]}),
            "layer_types",
            "null",
        ),
        (
            "gemma4",
            json!({"use_bidirectional_attention": "all"}),
            "use_bidirectional_attention",
            "\"all\"",
        ),
        ("gemma4", json!({"num_kv_shared_layers": 6}), "num_kv_shared_layers", "6"),
        ("gemma4", json!({"num_kv_shared_layers": 5}), "num_kv_shared_layers", "5"),
        (
            "gemma4",
            json!({"vocab_size_per_layer_input": 7}),
            "vocab_size_per_layer_input",
            "7",
        ),
        ("gemma4-moe", json!({"top_k_experts": 7}), "top_k_experts", "7"),
        (
            "gemma4",
            json!({"rope_parameters": {"rope_type": "default"}}),
            "rope_parameters",
            "{\"rope_type\":\"default\"}",
        ),
        ("qwen35", json!({"linear_num_key_heads": 3}), "linear_num_key_heads", "3"),
        ("qwen35", json!({"hidden_act": "gelu"}), "hidden_act", "\"gelu\""),
        ("llama-gqa", json!({"model_type": "mistral3"}), "text_config", "null"),
        (
            "llama-gqa",
            json!({"model_type": "mistral3", "text_config": {"model_type": "mistral3"}}),
            "model_type",
            "\"mistral3\"",
        ),
        ("granite", json!({"residual_multiplier": 0}), "residual_multiplier", "0.0"),
        ("gpt-oss", json!({"swiglu_limit": 5.0}), "swiglu_limit", "5.0"),
        ("deepseek-v3", json!({"n_group": 3}), "n_group", "3"),
        ("deepseek-v3", json!({"topk_group": 1}), "topk_group", "1"),
        ("deepseek-v3", json!({"v_head_dim": 25}), "v_head_dim", "25"),
        ("deepseek-v2", json!({"topk_method": "best"}), "topk_method", "\"best\""),
        (
            "glm4-moe-lite",
            json!({"mlp_layer_types": ["dense"]}),
            "mlp_layer_types",
            "[\"dense\"]",
        ),
        (
            "ministral3",
            json!({"rope_parameters": {"rope_type": "yarn", "factor": 4.0}}),
            "llama_4_scaling_beta",
            "null",
        ),
        (
            "olmo3",
            json!({"sliding_window": null, "layer_types": "absent"}),
            "sliding_window",
            "null",
        ),
        ("llama-gqa", json!({"hidden_act": "mish"}), "hidden_act", "\"mish\""),
        (
            "gpt2",
            json!({"activation_function": "relu6"}),
            "activation_function",
            "\"relu6\"",
        ),
        (
            "llama-gqa",
            json!({"rope_parameters": {"rope_type": "proportional", "factor": 4.0}}),
            "rope_type",
            "\"proportional\"",
        ),
        ("llama-gqa", json!({"rope_scaling": {"type": "ntk"}}), "rope_type", "\"ntk\""),
        (
            "phi3",
            json!({"rope_parameters": {"rope_type": "longrope", "short_factor": [1.0], "long_factor": [1.0]}}),
            "short_factor",
            "[1.0]",
        ),
        (
            "phi3",
            json!({"rope_parameters": {"partial_rotary_factor": 0.7, "rope_type": "yarn"}}),
            "partial_rotary_factor",
            "0.7",
        ),
        (
            "gemma3",
            json!({"use_bidirectional_attention": true}),
            "use_bidirectional_attention",
            "true",
        ),
        (
            "gemma3",
            json!({"final_logit_softcapping": 0.0}),
            "final_logit_softcapping",
            "0.0",
        ),
        (
            "gemma3",
            json!({"layer_types": ["full_attention"]}),
            "layer_types",
            "[\"full_attention\"]",
        ),
        ("smollm3", json!({"no_rope_layers": [1, 0]}), "no_rope_layers", "[1,0]"),
        ("qwen3-moe", json!({"num_experts_per_tok": 9}), "num_experts_per_tok", "9"),
        ("qwen3-moe", json!({"num_local_experts": 0}), "num_experts", "0"),
        ("qwen3-moe", json!({"moe_intermediate_size": 0}), "moe_intermediate_size", "0"),
        ("mixtral", json!({"intermediate_size": 0}), "intermediate_size", "0"),
        ("mistral-window", json!({"sliding_window": 0}), "sliding_window", "0"),
        (
            "llama-gqa",
            json!({"rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 2.0}}}),
            "rope_parameters",
            "{\"full_attention\":{\"rope_type\":\"linear\",\"factor\":2.0}}",
        ),
        (
            "phi3",
            json!({"rope_scaling": {"type": "linear", "factor": 2.0}}),
            "rope_type",
            "\"linear\"",
        ),
        ("llama-gqa", json!({"is_causal": false}), "is_causal", "false"),
        (
            "qwen3",
            json!({"per_layer_config": {"1": {"intermediate_size": 8}}}),
            "per_layer_config",
            "{\"1\":{\"intermediate_size\":8}}",
        ),
        // Layers that are said to have a window, where there is none or it is not used.
        (
            "qwen3",
            json!({
                "use_sliding_window": false, "sliding_window": 64,
                "layer_types": ["full_attention", "sliding_attention", "full_attention"],
            }),
            "layer_types",
            "\"sliding_attention\"",
        ),
        (
            "mistral-window",
            json!({"sliding_window": null, "layer_types": ["sliding_attention", "full_attention", "full_attention"]}),
            "layer_types",
            "\"sliding_attention\"",
        ),
        (
            "gemma3",
            json!({"sliding_window": null, "layer_types": "absent"}),
            "sliding_window",
            "null",
        ),
        (
            "llama-gqa",
            json!({"rope_parameters": {"rope_type": "linear", "factor": 0.0}}),
            "factor",
            "0.0",
        ),
        (
            "llama-gqa",
            json!({"rope_parameters": {"rope_theta": -1.0}}),
            "rope_theta",
            "-1.0",
        ),
        (
            "llama-gqa",
            json!({"partial_rotary_factor": 0.5}),
            "partial_rotary_factor",
            "0.5",
        ),
        (
            "llama-gqa",
            json!({"quantization_config": {"quant_method": "aqlm"}}),
            "quantization_config",
            "{\"quant_method\":\"aqlm\"}",
        ),
        ("llama-gqa", json!({"num_local_experts": 8}), "num_local_experts", "8"),
        ("qwen3", json!({"num_experts": 128}), "num_experts", "128"),
        ("llama-gqa", json!({"sliding_window": 64}), "sliding_window", "64"),
        (
            "qwen3",
            json!({"layer_types": ["full_attention", "linear_attention", "full_attention"]}),
            "layer_types",
            "\"linear_attention\"",
        ),
        ("gpt2", json!({"scale_attn_weights": false}), "scale_attn_weights", "false"),
        (
            "gpt2",
            json!({"scale_attn_by_inverse_layer_idx": true}),
            "scale_attn_by_inverse_layer_idx",
            "true",
        ),
        ("gpt2", json!({"n_head": 5}), "n_head", "5"),
        (
            "llama-gqa",
            json!({"num_hidden_layers": 1u64 << 40}),
            "num_hidden_layers",
            "1099511627776",
        ),
    ] {
        let error = read(&with(model, &changes)).unwrap_err();
        let Error::Load(LoadError::Unsupported { origin, field, value, supported }) = &error else {
            panic!("{changes}: {error:?}");
        };
        assert_eq!(origin, "config.json");
        assert_eq!((*field, value.as_str()), (expected_field, expected_value), "{changes}");
        assert!(error.to_string().ends_with(&format!("only {supported} is supported")));
    }
}

/// What each layer does: its window, and the base of its RoPE.
fn layers_of(model: &str, changes: &Value) -> Vec<(Option<usize>, Option<f64>)> {
    let config = read(&with(model, changes)).unwrap();
    let llama = llama_of(&config);
    let layers = (0..config.n_layers).map(|i| llama.layer(i));
    layers.map(|layer| (layer.window, layer.rope.as_ref().map(|rope| rope.theta))).collect()
}

#[test]
fn each_layer_has_its_window_and_its_rope() {
    let absent = "absent";
    let long = json!({"max_position_embeddings": 32768, "sliding_window": absent});
    assert_eq!(layers_of("mistral-window", &json!({})), [(Some(8), Some(1e4)); 3]);
    assert_eq!(layers_of("mistral-window", &long), [(Some(4096), Some(1e4)); 3]);
    let all_qwen = json!({
        "use_sliding_window": true, "sliding_window": 64, "layer_types": absent,
        "max_window_layers": 2,
    });
    let (full, slides) = ((None, Some(1e4)), (Some(64), Some(1e4)));
    assert_eq!(layers_of("qwen3", &all_qwen), [full, full, slides]);
    let listed = json!({
        "use_sliding_window": true, "sliding_window": 64,
        "layer_types": ["full_attention", "sliding_attention", "full_attention"],
    });
    assert_eq!(layers_of("qwen3", &listed), [full, slides, full]);

    let gemma = [
        (Some(9), Some(1e4)),
        (Some(9), Some(1e4)),
        (None, Some(1e6)),
        (Some(9), Some(1e4)),
    ];
    assert_eq!(layers_of("gemma3", &json!({})), gemma);
    let old = json!({
        "rope_parameters": absent, "rope_theta": 5e5, "rope_local_base_freq": 2e4,
        "layer_types": absent, "sliding_window_pattern": 2, "_sliding_window_pattern": absent,
    });
    let (slides, full) = ((Some(9), Some(2e4)), (None, Some(5e5)));
    assert_eq!(layers_of("gemma3", &old), [slides, full, slides, full]);
    // transformers writes it again under this name, and reads the other one alone.
    let mut both = old.clone();
    both["_sliding_window_pattern"] = 3.into();
    assert_eq!(layers_of("gemma3", &both), [slides, full, slides, full]);
    both["sliding_window_pattern"] = absent.into();
    assert_eq!(layers_of("gemma3", &both), [slides; 4]);

    // A Mistral with `layer_types` is read as a Ministral.
    let types = |types: [&str; 3]| json!({"layer_types": types.map(|t| format!("{t}_attention"))});
    let (full, slides) = ((None, Some(1e4)), (Some(8), Some(1e4)));
    let some = types(["sliding", "full", "sliding"]);
    assert_eq!(layers_of("mistral-window", &some), [slides, full, slides]);
    assert_eq!(layers_of("mistral-window", &types(["full"; 3])), [full; 3]);
    assert_eq!(layers_of("mistral-window", &json!({"layer_types": null})), [slides; 3]);
    // A Mixtral has one window for all layers.
    let types = json!({"layer_types": ["full_attention", "full_attention"]});
    assert_eq!(layers_of("mixtral", &types), [(Some(10), Some(1e6)); 2]);
    // Layers of a SmolLM3 that are listed have the window in any case.
    let types: Vec<String> =
        ["full", "sliding", "full", "full"].map(|t| format!("{t}_attention")).into();
    let listed = json!({"sliding_window": 9, "use_sliding_window": false, "layer_types": types});
    let windows: Vec<_> = layers_of("smollm3", &listed).into_iter().map(|layer| layer.0).collect();
    assert_eq!(windows, [None, Some(9), None, None]);

    let (turned, still) = ((None, Some(2e6)), (None, None));
    let every_second = json!({"no_rope_layers": absent, "no_rope_layer_interval": 2});
    assert_eq!(layers_of("smollm3", &json!({})), [turned, turned, turned, still]);
    assert_eq!(layers_of("smollm3", &every_second), [turned, still, turned, still]);
}

/// A text beyond the original context would need other frequencies from its first token on.
#[test]
fn longrope_takes_texts_of_the_original_context() {
    let factors = |factor: f32| vec![factor; 6];
    let config = read(&with(
        "phi3",
        &json!({
            "original_max_position_embeddings": 64,
            "rope_parameters": {
                "rope_type": "longrope", "partial_rotary_factor": 0.75,
                "short_factor": factors(1.25), "long_factor": factors(4.0),
            },
        }),
    ));
    let config = config.unwrap();
    assert_eq!(config.context_length, 64);
    let rope = llama_of(&config).layers[0].rope.clone().unwrap();
    assert_eq!((rope.rotated, rope.scaling), (Some(12), RopeScaling::Factors(factors(1.25))));
    let expected = (1.0 + 4f64.ln() / 64f64.ln()).sqrt();
    assert!((rope.attention_factor - expected).abs() < 1e-12);
}

#[test]
fn special_tokens_that_a_file_leaves_out_are_those_of_transformers() {
    let ids = |model: &str, changes: Value| {
        let config = read(&with(model, &changes)).unwrap();
        (config.bos_token_id, config.eos_token_ids)
    };
    let absent = json!({"bos_token_id": "absent", "eos_token_id": "absent"});
    assert_eq!(ids("llama-gqa", absent.clone()), (Some(1), vec![2]));
    assert_eq!(ids("gemma3", absent.clone()), (Some(2), vec![1]));
    assert_eq!(ids("qwen3", absent.clone()), (None, vec![]));
    // Not in this vocabulary.
    assert_eq!(ids("gpt2", absent), (None, vec![]));
    assert_eq!(
        ids("llama-gqa", json!({"bos_token_id": null, "eos_token_id": null})),
        (None, vec![])
    );
    // Files say -1 where there is none.
    assert_eq!(
        ids("llama-gqa", json!({"bos_token_id": -1, "eos_token_id": [3, -1]})),
        (None, vec![3])
    );
}

#[test]
fn gpt2_knows_the_names_of_other_families() {
    let config =
        read(&with("gpt2", &json!({"num_attention_heads": 2, "hidden_size": 24}))).unwrap();
    assert_eq!((config.n_heads, config.d_model), (2, 24));
}
