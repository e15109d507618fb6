//! `config.json` of a model of several parts, of which one reads and writes text.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{parse, unsupported};
use crate::error::Result;

#[derive(Debug, Deserialize)]
struct NestedFile {
    text_config: Option<Map<String, Value>>,
    #[serde(flatten)]
    outside: Map<String, Value>,
}

/// The config of the text part, where a model of this type has several parts.
pub(super) fn text(model_type: &str, json: &[u8], origin: &str) -> Result<Option<String>> {
    let (text_type, is_tied) = match model_type {
        "mistral3" => ("mistral", true),
        "gemma4" => ("gemma4_text", true),
        "gemma4_unified" => ("gemma4_unified_text", true),
        "qwen3_5" => ("qwen3_5_text", false),
        "qwen3_5_moe" => ("qwen3_5_moe_text", false),
        _ => return Ok(None),
    };
    let NestedFile { text_config, outside } = parse(json, origin)?;
    let Some(mut text) = text_config else {
        let part = "a file with the config of its text part";
        return Err(unsupported(origin, "text_config", None::<usize>, part));
    };
    // A head that should be tied, and is in the files with other numbers, is loaded all the same.
    let tied = outside.get("tie_word_embeddings").cloned().unwrap_or(is_tied.into());
    text.insert("tie_word_embeddings".to_owned(), tied);
    text.entry("model_type").or_insert(text_type.into());
    if text["model_type"] == model_type {
        return Err(unsupported(origin, "model_type", model_type, "a text part of another type"));
    }
    Ok(Some(Value::Object(text).to_string()))
}
