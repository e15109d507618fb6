//! What a folder says of the vectors of texts, as sentence-transformers writes it.

use slowburn::generate::Pooling;

use super::*;

/// Loads a model with these two files, as far as they are given.
fn loaded(modules: Option<&Value>, pooling: Option<&Value>) -> slowburn::Result<Pretrained> {
    let folder = copy_of(&fixture("models/llama-gqa"));
    if let Some(modules) = modules {
        std::fs::write(folder.path().join("modules.json"), modules.to_string()).unwrap();
    }
    if let Some(pooling) = pooling {
        std::fs::create_dir(folder.path().join("1_Pooling")).unwrap();
        std::fs::write(folder.path().join("1_Pooling/config.json"), pooling.to_string()).unwrap();
    }
    Pretrained::load(folder.path(), &device(), Precision::F32)
}

fn modules(names: &[&str]) -> Value {
    let module = |name: &&str| json!({"type": format!("sentence_transformers.models.{name}")});
    names.iter().map(module).collect()
}

#[test]
fn the_pooling_of_a_folder_is_read() {
    let all = modules(&["Transformer", "Pooling", "Normalize"]);
    let flags = |mode: &str| {
        json!({
            "word_embedding_dimension": 64, "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": false,
            "pooling_mode_max_tokens": false, "pooling_mode_lasttoken": false, "include_prompt": true,
            mode: true,
        })
    };
    let (mean, last) = (Some(Pooling::Mean), Some(Pooling::Last));
    for (pooling, expected) in [
        (flags("pooling_mode_lasttoken"), last),
        (flags("pooling_mode_mean_tokens"), mean),
        (json!({"pooling_mode": "lasttoken"}), last),
        (json!({"pooling_mode": "mean"}), mean),
        (json!({}), None),
    ] {
        let found = loaded(Some(&all), Some(&pooling)).unwrap().pooling;
        assert_eq!(found, expected, "{pooling}");
        assert_eq!(loaded(None, Some(&pooling)).unwrap().pooling, expected, "{pooling}");
    }
    assert_eq!(loaded(None, None).unwrap().pooling, None);
}

#[test]
fn what_a_text_goes_through_and_is_not_computed_is_refused_by_name() {
    let error = loaded(Some(&modules(&["Transformer", "Pooling", "Dense"])), None).unwrap_err();
    assert_says(&error, &["modules.json", "`type`", "models.Dense"]);
    for (pooling, word) in [
        (json!({"pooling_mode_cls_token": true}), "cls_token"),
        (
            json!({"pooling_mode_mean_tokens": true, "pooling_mode_lasttoken": true}),
            "`pooling_mode`",
        ),
        (json!({"pooling_mode": "weightedmean"}), "weightedmean"),
    ] {
        let error = loaded(None, Some(&pooling)).unwrap_err();
        assert_says(&error, &["1_Pooling/config.json", "pooling_mode", word]);
    }
    let error = loaded(None, Some(&json!([]))).unwrap_err();
    assert!(matches!(error, Error::Load(LoadError::Json { .. })), "{error:?}");
}

/// A file may name a token that the vocabulary does not have. No text has it.
#[test]
fn special_tokens_outside_the_vocabulary() {
    let folder = copy_of(&fixture("models/llama-gqa"));
    edit_json(folder.path(), "config.json", |config| {
        config["bos_token_id"] = 320.into();
        config["eos_token_id"] = json!([1, 128_001]);
    });
    std::fs::remove_file(folder.path().join("generation_config.json")).unwrap();
    let pretrained = Pretrained::load(folder.path(), &device(), Precision::F32).unwrap();
    let config = pretrained.model.config();
    assert_eq!((config.bos_token_id, &config.eos_token_ids[..]), (None, &[1][..]));
    let expected = [
        "bos_token_id 320 is outside the vocabulary",
        "eos_token_id 128001 is outside",
    ];
    assert_eq!(pretrained.warnings.len(), 2);
    for (found, expected) in pretrained.warnings.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}");
    }
}
