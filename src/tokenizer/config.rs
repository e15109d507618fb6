//! Special tokens and chat templates from `tokenizer_config.json` and `special_tokens_map.json`.

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

/// The templates of a model by their names: `default`, `tool_use`, `rag`.
pub(super) type NamedTemplates = BTreeMap<String, String>;

/// The template of conversations.
pub(super) const DEFAULT: &str = "default";
/// The template of conversations with tools, where it is another.
pub(super) const TOOL_USE: &str = "tool_use";

/// The fields of `tokenizer_config.json` that affect results.
#[derive(Debug)]
pub(super) struct TokenizerConfig {
    pub(super) special_tokens: SpecialTokens,
    pub(super) chat_templates: NamedTemplates,
    /// It describes all added tokens, and so says by itself which are special.
    pub(super) is_complete: bool,
}

impl TokenizerConfig {
    pub(super) fn from_json(json: &[u8], origin: &str) -> Result<Self> {
        let mut fields = fields_of(json, origin)?;
        let special_tokens = special_tokens(&mut fields, origin)?;
        let field = fields.remove("chat_template").unwrap_or_default();
        let templates = Option::<Templates>::deserialize(field).map_err(wrong(origin))?;
        Ok(Self {
            special_tokens,
            chat_templates: templates.map(Templates::by_name).unwrap_or_default(),
            is_complete: fields.contains_key("added_tokens_decoder"),
        })
    }
}

/// The special tokens of a `special_tokens_map.json`.
pub(super) fn special_tokens_map(json: &[u8], origin: &str) -> Result<SpecialTokens> {
    special_tokens(&mut fields_of(json, origin)?, origin)
}

fn wrong(origin: &str) -> impl Fn(serde_json::Error) -> Error {
    move |source| Error::Load(LoadError::Json { origin: origin.to_owned(), source })
}

fn fields_of(json: &[u8], origin: &str) -> Result<Map<String, Value>> {
    serde_json::from_slice(json).map_err(wrong(origin))
}

fn special_tokens(fields: &mut Map<String, Value>, origin: &str) -> Result<SpecialTokens> {
    let mut special_tokens = SpecialTokens::new();
    for name in SPECIAL {
        let field = fields.remove(name).unwrap_or_default();
        if let Some(token) = Option::<SpecialToken>::deserialize(field).map_err(wrong(origin))? {
            special_tokens.insert(name.to_owned(), token.into_text());
        }
    }
    Ok(special_tokens)
}

/// A special token, as a string or as an object with matching options.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a special token must be a string, or an object with its text as `content`"
)]
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

/// One template, or several by purpose.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "chat_template must be a string, or a list of objects with `name` and `template`"
)]
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
    fn by_name(self) -> NamedTemplates {
        match self {
            Templates::One(template) => [(DEFAULT.to_owned(), template)].into(),
            Templates::Named(all) => {
                all.into_iter().map(|named| (named.name, named.template)).collect()
            }
        }
    }
}
