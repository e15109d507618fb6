//! The table of the fields of `config.json`, which the documentation of `ModelConfig::from_json` shows: that it has
//! every field, and that what it says of each is so.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use slowburn::model::ModelConfig;
use slowburn::{Error, LoadError};

use crate::common::{fixture, read_json};

const TABLE: &str = include_str!("../../src/checkpoint/config/fields.md");

/// The families, with the fixture of each.
const FAMILIES: [(&str, &str); 24] = [
    ("llama", "llama-gqa"),
    ("mistral", "mistral-window"),
    ("mixtral", "mixtral"),
    ("qwen2", "qwen2"),
    ("qwen3", "qwen3"),
    ("qwen3_moe", "qwen3-moe"),
    ("gemma3_text", "gemma3"),
    ("smollm3", "smollm3"),
    ("phi3", "phi3"),
    ("granite", "granite"),
    ("olmo3", "olmo3"),
    ("ministral3", "ministral3"),
    ("gpt_oss", "gpt-oss"),
    ("deepseek_v2", "deepseek-v2"),
    ("deepseek_v3", "deepseek-v3"),
    ("glm4_moe_lite", "glm4-moe-lite"),
    ("lfm2", "lfm2"),
    ("lfm2_moe", "lfm2-moe"),
    ("qwen3_next", "qwen3-next"),
    ("qwen3_5_text", "qwen35"),
    ("qwen3_5_moe_text", "qwen35-moe"),
    ("gemma4_text", "gemma4-moe"),
    ("gemma4_unified_text", "gemma4-unified"),
    ("gpt2", "gpt2"),
];

/// The rows of a table whose first line has so many columns: the texts between its bars.
fn rows(columns: usize) -> Vec<Vec<String>> {
    let cells = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
    };
    let lines = TABLE.lines().filter(|line| line.starts_with("| `"));
    lines.map(cells).filter(|cells| cells.len() == columns).collect()
}

/// What the table says, by family and field.
fn fates() -> BTreeMap<(String, String), String> {
    let mut fates = BTreeMap::new();
    for row in rows(3) {
        let [field, families, fate] = row.try_into().unwrap();
        assert!(["read", "no effect", "refused"].contains(&fate.as_str()), "{field}: {fate}");
        let families: Vec<&str> = match families.as_str() {
            "all" => FAMILIES.iter().map(|(family, _)| *family).collect(),
            some => some.split(", ").collect(),
        };
        for family in families {
            assert!(FAMILIES.iter().any(|(known, _)| *known == family), "{family}");
            let before = fates.insert((family.to_owned(), field.clone()), fate.clone());
            assert_eq!(before, None, "{family} {field}");
        }
    }
    fates
}

fn read(json: &Value) -> slowburn::Result<ModelConfig> {
    ModelConfig::from_json(json.to_string().as_bytes(), "config.json")
}

/// A config of a family in which every field that the family has makes a difference.
fn base(family: &str) -> Value {
    let (_, name) = FAMILIES.iter().find(|(known, _)| *known == family).unwrap();
    let mut config = read_json(&fixture(&format!("models/{name}/config.json")));
    let fields = config.as_object_mut().unwrap();
    fields.remove("layer_types");
    fields.remove("partial_rotary_factor");
    fields.remove("no_rope_layers");
    let yarn = json!({"rope_type": "yarn", "factor": 4.0});
    let rope = match family {
        "gpt2" => return config,
        "phi3" => {
            json!({"rope_type": "longrope", "short_factor": vec![1.5; 8], "long_factor": vec![2.5; 8]})
        }
        "gemma4_text" | "gemma4_unified_text" => {
            json!({"full_attention": {"rope_type": "proportional"}, "sliding_attention": {}})
        }
        "gemma3_text" | "olmo3" => json!({"full_attention": yarn, "sliding_attention": {}}),
        "ministral3" => {
            json!({"rope_type": "yarn", "factor": 4.0, "llama_4_scaling_beta": 0.1})
        }
        _ => yarn,
    };
    config["rope_parameters"] = rope;
    if family == "qwen3_moe" {
        let fields = config.as_object_mut().unwrap();
        let experts = fields.remove("num_local_experts").unwrap();
        fields.insert("num_experts".to_owned(), experts);
    }
    if family == "gemma3_text" {
        config["sliding_window_pattern"] = 2.into();
    }
    if ["deepseek_v2", "glm4_moe_lite"].contains(&family) {
        (config["n_group"], config["topk_group"]) = (2.into(), 2.into());
    }
    if family.starts_with("gemma4_") {
        let fields = config.as_object_mut().unwrap();
        fields.remove("per_layer_config");
        let types = json!([
            "sliding_attention",
            "full_attention",
            "sliding_attention",
            "full_attention"
        ]);
        for (field, value) in [
            ("layer_types", types),
            ("global_head_dim", 32.into()),
            ("num_global_key_value_heads", 1.into()),
            ("num_kv_shared_layers", 2.into()),
            ("hidden_size_per_layer_input", 8.into()),
            ("vocab_size_per_layer_input", 400.into()),
            ("rope_theta", 500.0.into()),
        ] {
            fields.insert(field.to_owned(), value);
        }
    }
    if family == "lfm2_moe" {
        config["full_attn_idxs"] = json!([1, 3]);
    }
    if family == "lfm2" {
        config["full_attn_idxs"] = json!([1, 3]);
        config["block_auto_adjust_ff_dim"] = true.into();
        config["intermediate_size"] = 1000.into();
    }
    if family == "deepseek_v2" {
        config["topk_method"] = "group_limited_greedy".into();
    }
    let without = [
        "llama",
        "granite",
        "deepseek_v2",
        "deepseek_v3",
        "glm4_moe_lite",
        "lfm2",
        "lfm2_moe",
        "qwen3_next",
        "qwen3_5_text",
        "qwen3_5_moe_text",
    ];
    if !without.contains(&family) {
        config["sliding_window"] = 7.into();
        config["use_sliding_window"] = true.into();
        config["max_window_layers"] = 1.into();
    }
    config
}

/// Values that a field might have.
fn values(field: &str, family: &str, layers: usize) -> Vec<Value> {
    let full = vec!["full_attention"; layers];
    let sliding = vec!["sliding_attention"; layers];
    match field {
        "model_type" => vec!["mamba".into()],
        "bos_token_id" | "eos_token_id" | "pad_token_id" => vec![7.into()],
        "hidden_act" | "hidden_activation" | "activation_function" => vec!["gelu".into()],
        "rope_parameters" if ["gemma3_text", "olmo3"].contains(&family) => {
            vec![json!({"full_attention": {"rope_theta": 777.0}})]
        }
        "rope_parameters" | "rope_scaling" => {
            vec![
                json!({"rope_type": "llama3", "factor": 2.0, "low_freq_factor": 1.0, "high_freq_factor": 2.0}),
            ]
        }
        "layer_types" => vec![json!(full), json!(sliding)],
        "full_attn_idxs" => vec![json!([0])],
        "no_rope_layers" => vec![json!(vec![0; layers])],
        "mlp_only_layers" => vec![json!([0])],
        "mlp_layer_types" => vec![json!(vec!["dense"; layers])],
        "topk_method" => vec!["greedy".into()],
        "topk_group" => vec![1.into()],
        "n_inner" => vec![24.into()],
        "rms_norm_eps" | "norm_eps" | "layer_norm_epsilon" => vec![0.5.into()],
        "sliding_window_pattern" | "_sliding_window_pattern" => vec![2.into(), 3.into()],
        "num_experts" | "num_local_experts" | "n_routed_experts" => vec![3.into()],
        "num_experts_per_tok" | "top_k_experts" => vec![1.into()],
        "quantization_config" => vec![json!({"quant_method": "aqlm"})],
        "per_layer_config" => vec![json!({"0": {"intermediate_size": 8}})],
        "architectures" => vec![json!(["OtherForCausalLM"])],
        "dtype" | "torch_dtype" => vec!["float16".into(), "bfloat16".into()],
        "id2label" => vec![json!({"0": "no"})],
        "label2id" => vec![json!({"no": 0})],
        "problem_type" | "summary_type" | "summary_activation" | "transformers_version" => {
            vec!["regression".into()]
        }
        "sliding_window" => vec![5.into()],
        "partial_rotary_factor" => vec![0.5.into()],
        "rope_theta" | "rope_local_base_freq" => vec![777.0.into()],
        "query_pre_attn_scalar" | "attn_logit_softcapping" | "final_logit_softcapping" => {
            vec![3.into()]
        }
        "attn_pdrop"
        | "embd_pdrop"
        | "resid_pdrop"
        | "attention_dropout"
        | "summary_first_dropout"
        | "router_aux_loss_coef"
        | "router_jitter_noise"
        | "initializer_range" => vec![0.25.into()],
        "is_causal" | "scale_attn_weights" => vec![false.into()],
        _ if is_flag(field) => vec![true.into(), false.into()],
        "num_hidden_layers" | "n_layer" => vec![(layers + 1).into()],
        "max_window_layers"
        | "no_rope_layer_interval"
        | "decoder_sparse_step"
        | "pretraining_tp" => vec![2.into()],
        "chunk_size_feed_forward" => vec![0.into(), 4.into()],
        "head_dim" if family != "phi3" => vec![20.into()],
        // Sizes: any other.
        _ => vec![12.into()],
    }
}

fn is_flag(field: &str) -> bool {
    let words = [
        "tie_",
        "use_",
        "output_",
        "return_",
        "is_",
        "norm_topk",
        "add_",
        "scale_",
        "rope_interleave",
        "reorder_",
        "block_auto_",
        "enable_",
        "attention_k_eq_v",
    ];
    words.iter().any(|word| field.starts_with(word))
        || field.ends_with("_bias")
        || field.ends_with("_proj")
        || field == "summary_proj_to_labels"
}

#[test]
fn the_table_has_every_field_of_the_classes_of_transformers() {
    let (fates, classes) = (fates(), read_json(&fixture("configs/fields.json")));
    for (class, fields) in classes.as_object().unwrap() {
        // What a Mistral with `layer_types` is to transformers.
        let family = if class == "ministral" {
            "mistral"
        } else {
            class
        };
        for field in fields.as_array().unwrap() {
            let field = field.as_str().unwrap();
            let is_there = match family {
                "rope" => rows(2).iter().any(|row| row[0] == field),
                _ => fates.contains_key(&(family.to_owned(), field.to_owned())),
            };
            assert!(is_there, "{family} {field}");
        }
    }
}

#[test]
fn each_field_does_what_the_table_says() {
    for ((family, field), fate) in fates() {
        let config = base(&family);
        let before = read(&config).unwrap_or_else(|error| panic!("{family}: {error}"));
        let changed = values(&field, &family, before.n_layers).into_iter().map(|value| {
            let mut config = config.clone();
            config[&field] = value;
            read(&config)
        });
        let what = format!("{family}: {field} is {fate}");
        let outcomes: Vec<_> = changed.collect();
        match fate.as_str() {
            "read" => {
                let same = |outcome: &slowburn::Result<_>| matches!(outcome, Ok(after) if *after == before);
                assert!(!outcomes.iter().all(same), "{what}");
            }
            "no effect" => {
                for outcome in outcomes {
                    assert_eq!(
                        outcome.unwrap_or_else(|error| panic!("{what}: {error}")),
                        before,
                        "{what}"
                    );
                }
            }
            _ => {
                let by_name = |outcome: &slowburn::Result<_>| match outcome {
                    Err(Error::Load(LoadError::Unsupported { field: found, .. })) => {
                        *found == field
                    }
                    _ => false,
                };
                assert!(outcomes.iter().any(by_name), "{what}: {outcomes:?}");
            }
        }
    }
}

#[test]
fn each_field_of_rope_does_what_the_table_says() {
    let yarn = json!({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32});
    let with_scales = json!({
        "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32,
        "mscale": 0.7, "mscale_all_dim": 0.5,
    });
    let llama3 = json!({
        "rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 32,
    });
    let longrope = json!({
        "rope_type": "longrope", "short_factor": vec![1.5; 4], "long_factor": vec![2.5; 4],
        "original_max_position_embeddings": 32,
    });
    for row in rows(2) {
        let [field, fate] = row.try_into().unwrap();
        let (rope, value) = match field.as_str() {
            "rope_type" => (&yarn, json!("linear")),
            "type" => (&json!({"factor": 4.0}), json!("linear")),
            "rope_theta" => (&yarn, json!(777.0)),
            "partial_rotary_factor" => (&yarn, json!(0.5)),
            "low_freq_factor" | "high_freq_factor" => (&llama3, json!(2.0)),
            "short_factor" | "long_factor" => (&longrope, Value::Null),
            "mscale" | "mscale_all_dim" => (&with_scales, json!(1.5)),
            "truncate" => (&yarn, Value::Null),
            "mrope_section" => (&yarn, json!([2, 3, 3])),
            "original_max_position_embeddings" => (&yarn, json!(48)),
            _ => (&yarn, json!(3.0)),
        };
        let mut config = base("llama");
        config["rope_parameters"] = rope.clone();
        let before = read(&config).unwrap();
        config["rope_parameters"][&field] = value;
        let is_same = matches!(read(&config), Ok(after) if after == before);
        assert_eq!(is_same, fate == "no effect", "{field}");
    }
}
