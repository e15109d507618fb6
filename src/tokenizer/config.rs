//! Special tokens and chat templates from `tokenizer_config.json`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::{Error, LoadError, Result};

/// The fields for special tokens, whose names are also their variables in a chat template.
const SPECIAL: [&str; 7] = [
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
];

/// The special tokens by field name: `bos_token` to `<s>`.
pub type SpecialTokens = BTreeMap<String, String>;

/// The fields of `tokenizer_config.json` that affect results.
#[derive(Debug)]
pub(super) struct TokenizerConfig {
    pub(super) special_tokens: SpecialTokens,
    pub(super) chat_template: Option<String>,
    /// The template of conversations with tools, where it is another.
    pub(super) tool_use: Option<String>,
}

impl TokenizerConfig {
    pub(super) fn from_json(json: &[u8], origin: &str) -> Result<Self> {
        let wrong = |source| Error::Load(LoadError::Json { origin: origin.to_owned(), source });
        let mut fields: Map<String, Value> = serde_json::from_slice(json).map_err(wrong)?;
        let mut special_tokens = SpecialTokens::new();
        for name in SPECIAL {
            let field = fields.remove(name).unwrap_or_default();
            if let Some(token) = Option::<SpecialToken>::deserialize(field).map_err(wrong)? {
                special_tokens.insert(name.to_owned(), token.into_text());
            }
        }
        let field = fields.remove("chat_template").unwrap_or_default();
        let templates = Option::<Templates>::deserialize(field).map_err(wrong)?;
        let (chat_template, tool_use) = templates.map_or((None, None), Templates::by_use);
        Ok(Self { special_tokens, chat_template, tool_use })
    }
}

/// A special token, as a string or as an object with matching options.
#[derive(Deserialize)]
#[serde(untagged)]
enum SpecialToken {
    Text(String),
    Described { content: String },
}

impl SpecialToken {
    fn into_text(self) -> String {
        match self {
            SpecialToken::Text(text) => text,
            SpecialToken::Described { content } => content,
        }
    }
}

/// One template, or several by purpose: `default`, `tool_use`, `rag`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Templates {
    One(String),
    Named(Vec<Named>),
}

#[derive(Deserialize)]
struct Named {
    name: String,
    template: String,
}

impl Templates {
    /// The template of conversations, and that of those with tools.
    fn by_use(self) -> (Option<String>, Option<String>) {
        match self {
            Templates::One(template) => (Some(template), None),
            Templates::Named(all) => {
                let by_name = all.into_iter().map(|named| (named.name, named.template));
                let mut by_name: BTreeMap<String, String> = by_name.collect();
                (by_name.remove("default"), by_name.remove("tool_use"))
            }
        }
    }
}
