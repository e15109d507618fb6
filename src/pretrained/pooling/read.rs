//! Reads the pooling of a folder, as sentence-transformers writes it, and of a GGUF file.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Pooling;
use crate::checkpoint::gguf::GgufFile;
use crate::error::{Error, LoadError, Result};

/// A folder's list of what a text goes through.
pub(in crate::pretrained) const MODULES: &str = "modules.json";
pub(in crate::pretrained) const POOLING: &str = "1_Pooling/config.json";

const SUPPORTED: &str = "the mean or the last token's";

#[derive(Deserialize)]
struct Module {
    #[serde(rename = "type")]
    kind: String,
}

/// Checks that no module follows that is not computed here. `origin` names [`MODULES`] in errors.
pub(in crate::pretrained) fn check_modules(json: &[u8], origin: &str) -> Result<()> {
    let modules: Vec<Module> = parse(json, origin)?;
    for Module { kind } in modules {
        let name = kind.rsplit('.').next().unwrap_or_default();
        if !["Transformer", "Pooling", "Normalize"].contains(&name) {
            let known = "a text's way through `Transformer`, `Pooling` and `Normalize`";
            return Err(unsupported(origin, "type", kind.into(), known));
        }
    }
    Ok(())
}

impl Pooling {
    /// Reads [`POOLING`], which `origin` names in errors: a flag for each way, or the name of one.
    pub(in crate::pretrained) fn from_json(json: &[u8], origin: &str) -> Result<Option<Self>> {
        let fields: Map<String, Value> = parse(json, origin)?;
        let named = |name: &str| match name {
            "mean" | "mean_tokens" => Some(Self::Mean),
            "lasttoken" => Some(Self::Last),
            _ => None,
        };
        let mut found = None;
        for (field, value) in &fields {
            let Some(way) = field.strip_prefix("pooling_mode") else {
                continue;
            };
            let way = match value {
                Value::Bool(true) => way.trim_start_matches('_'),
                Value::String(name) if way.is_empty() => name,
                _ => continue,
            };
            match (named(way), found) {
                (Some(pooling), None) => found = Some(pooling),
                // Several are put one behind the other, in a longer vector.
                _ => return Err(unsupported(origin, "pooling_mode", way.into(), SUPPORTED)),
            }
        }
        Ok(found)
    }

    /// Reads the metadata of a GGUF file.
    pub(in crate::pretrained) fn from_gguf(file: &GgufFile<'_>) -> Result<Option<Self>> {
        Ok(match file.pooling_type()? {
            None | Some(0) => None,
            Some(1) => Some(Self::Mean),
            Some(3) => Some(Self::Last),
            Some(other) => {
                let known = "0 (none), 1 (mean) or 3 (the last token's)";
                return Err(unsupported(file.origin(), "pooling_type", other.into(), known));
            }
        })
    }
}

fn parse<T: serde::de::DeserializeOwned>(json: &[u8], origin: &str) -> Result<T> {
    serde_json::from_slice(json)
        .map_err(|source| Error::Load(LoadError::Json { origin: origin.to_owned(), source }))
}

fn unsupported(origin: &str, field: &'static str, value: Value, supported: &'static str) -> Error {
    let (origin, value) = (origin.to_owned(), value.to_string());
    Error::Load(LoadError::Unsupported { origin, field, value, supported })
}
