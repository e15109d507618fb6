//! What a `config.json` says of RoPE, in all its spellings, and how long texts may be by it.

use serde_json::{Value, json};
use slowburn::model::config::{RopeConfig, RopeScaling};

use crate::config::{config_of, llama_of, read, rope, with};

/// The scaling of the RoPE of the first layer, and the longest text.
fn scaling_of(model: &str, changes: &Value) -> (RopeConfig, usize) {
    let config = read(&with(model, changes)).unwrap();
    (llama_of(&config).layers[0].rope.clone().unwrap(), config.context_length)
}

/// One of the two objects decides, and of what both may hold the other's is nothing.
#[test]
fn rope_scaling_has_precedence_where_it_says_something() {
    let parameters = json!({"rope_type": "linear", "factor": 2.0, "rope_theta": 777.0});
    for (scaling, expected) in [
        (json!({"rope_type": "linear", "factor": 4.0}), (10_000.0, 4.0)),
        (json!({"rope_type": "linear", "factor": 4.0, "rope_theta": 5.0}), (5.0, 4.0)),
        (json!({}), (777.0, 2.0)),
        (Value::Null, (777.0, 2.0)),
    ] {
        let changes = json!({"rope_scaling": scaling, "rope_parameters": parameters});
        let (found, _) = scaling_of("llama-gqa", &changes);
        let (theta, factor) = expected;
        assert_eq!(found, rope(theta, RopeScaling::Linear { factor }), "{scaling}");
    }
    // In Gemma 3 it is about the layers that read the whole text, field by field.
    let config = read(&with(
        "gemma3",
        &json!({
            "rope_scaling": {"factor": 8.0},
            "rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 2.0, "rope_theta": 5.0}},
        }),
    ));
    let config = config.unwrap();
    let full = llama_of(&config).layers.iter().find(|layer| layer.window.is_none()).unwrap();
    assert_eq!(full.rope, Some(rope(5.0, RopeScaling::Linear { factor: 8.0 })));
}

#[test]
fn the_original_context_is_what_the_file_says_outside_of_rope() {
    let nested = json!({
        "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64,
        "truncate": null,
    });
    let yarn = |original_context, truncate| RopeScaling::Yarn {
        factor: 4.0,
        beta_fast: 32.0,
        beta_slow: 1.0,
        original_context,
        truncate,
    };
    let mut changes = json!({"rope_parameters": nested});
    assert_eq!(scaling_of("llama-gqa", &changes).0.scaling, yarn(64.0, false));
    changes["original_max_position_embeddings"] = 128.into();
    assert_eq!(scaling_of("llama-gqa", &changes).0.scaling, yarn(128.0, false));
    changes["rope_parameters"] = json!({"rope_type": "yarn", "factor": 4.0});
    assert_eq!(scaling_of("llama-gqa", &changes).0.scaling, yarn(128.0, true));
    // Where no one says it, it is the context.
    changes["original_max_position_embeddings"] = "absent".into();
    assert_eq!(scaling_of("llama-gqa", &changes).0.scaling, yarn(256.0, true));

    // Phi-3 has it outside, with a default, and `yarn` is an old name of `longrope` there.
    for kind in ["su", "yarn", "longrope"] {
        let longrope = json!({
            "type": kind, "short_factor": vec![1.25; 6], "long_factor": vec![4.0; 6],
            "partial_rotary_factor": 0.75, "original_max_position_embeddings": 64,
        });
        let mut changes =
            json!({"rope_scaling": longrope, "original_max_position_embeddings": "absent"});
        let (found, context) = scaling_of("phi3", &changes);
        assert_eq!((found.scaling, context), (RopeScaling::Factors(vec![1.25; 6]), 256), "{kind}");
        changes["original_max_position_embeddings"] = 32.into();
        assert_eq!(scaling_of("phi3", &changes).1, 32, "{kind}");
    }
}

/// Many files say in `max_position_embeddings` how long the context was before it was scaled.
#[test]
fn yarn_and_linear_lengthen_the_context() {
    let context = |rope: Value| scaling_of("llama-gqa", &json!({"rope_parameters": rope})).1;
    assert_eq!(context(json!({"rope_type": "linear", "factor": 4.0})), 1024);
    assert_eq!(context(json!({"rope_type": "yarn", "factor": 4.0})), 1024);
    let original = |original: usize| {
        context(json!({
            "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": original,
        }))
    };
    assert_eq!(original(128), 512);
    assert_eq!(original(64), 256);
    // What is said to be the context is not shortened.
    assert_eq!(original(16), 256);
    assert_eq!(context(json!({"rope_type": "dynamic", "factor": 4.0})), 256);
    assert_eq!(context(json!({"rope_type": "yarn", "factor": 1e30})), i32::MAX as usize);
    // The context of a Gemma 3 is that after scaling.
    let linear = json!({"rope_scaling": {"rope_type": "linear", "factor": 8.0}});
    let before = read(&config_of("gemma3")).unwrap().context_length;
    assert_eq!(read(&with("gemma3", &linear)).unwrap().context_length, before);
}
