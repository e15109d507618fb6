//! How a text is split into words before byte-level BPE.

use serde_json::{Value, json};

use super::super::metadata::Metadata;
use crate::error::{LoadError, Result};

const PRE: &str = "tokenizer.ggml.pre";

/// The words of GPT-2: a few English endings, then letters, digits or other characters, each with
/// the space before it.
const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// The words of Llama 3: up to three digits, and any one character before letters.
const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// The words of Qwen 2: as Llama 3, but each digit alone.
const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// What splits a text, by the model that was trained with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PreTokenizer {
    /// What llama.cpp takes for files that do not say.
    Default,
    Gpt2,
    Llama3,
    /// As Llama 3, without a begin-of-sequence token: SmolLM3.
    Smaug,
    Qwen2,
    SmolLm,
}

impl PreTokenizer {
    pub(super) fn read(metadata: &Metadata) -> Result<Self> {
        Ok(match metadata.text(PRE)?.unwrap_or("default") {
            "default" => Self::Default,
            "gpt-2" => Self::Gpt2,
            "llama-bpe" | "llama3" | "llama-v3" => Self::Llama3,
            "smaug-bpe" => Self::Smaug,
            "qwen2" => Self::Qwen2,
            "smollm" => Self::SmolLm,
            other => {
                return Err(LoadError::Unsupported {
                    origin: metadata.origin().to_owned(),
                    field: PRE,
                    value: format!("{other:?}"),
                    supported: "`default`, `gpt-2`, `llama-bpe`, `smaug-bpe`, `qwen2` or `smollm`",
                }
                .into());
            }
        })
    }

    /// Qwen composes characters and their accents first.
    pub(super) fn normalizer(self) -> Value {
        match self {
            Self::Qwen2 => json!({"type": "NFC"}),
            _ => Value::Null,
        }
    }

    /// Whether a word that is a token becomes that token, whatever the merges say.
    pub(super) fn ignores_merges(self) -> bool {
        self == Self::Llama3
    }

    /// The pre-tokenizer of `tokenizer.json`.
    pub(super) fn json(self) -> Value {
        let splits = match self {
            Self::Gpt2 => vec![split(GPT2)],
            Self::Llama3 | Self::Smaug => vec![split(LLAMA3)],
            Self::Qwen2 => vec![split(QWEN2)],
            Self::SmolLm => vec![split(r"\p{N}"), split(GPT2)],
            Self::Default => vec![
                split(r"[\p{P}\$\+<=>\^~\|]+"),
                split(GPT2),
                split(r"\p{N}+"),
                split("[0-9][0-9][0-9]"),
            ],
        };
        let to_bytes = json!({
            "type": "ByteLevel",
            "add_prefix_space": false,
            "trim_offsets": true,
            "use_regex": false,
        });
        let steps: Vec<Value> = splits.into_iter().chain([to_bytes]).collect();
        json!({"type": "Sequence", "pretokenizers": steps})
    }
}

/// Whether files without `add_bos_token` mean true.
pub(super) fn adds_bos(metadata: &Metadata) -> Result<bool> {
    Ok(PreTokenizer::read(metadata)? == PreTokenizer::Llama3)
}

/// Makes each match a word of its own, and what lies between them too.
fn split(regex: &str) -> Value {
    json!({
        "type": "Split",
        "pattern": {"Regex": regex},
        "behavior": "Isolated",
        "invert": false,
    })
}
