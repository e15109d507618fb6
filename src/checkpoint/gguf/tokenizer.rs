//! The tokenizer from the metadata, in the format of `tokenizer.json`.

mod byte_level;
mod merges;
mod pre_tokenizer;
mod sentence_piece;
mod special;

use serde_json::{Map, Value, json};

use super::config::ARCHITECTURE;
use super::file::GgufFile;
use super::metadata::Metadata;
use crate::error::{LoadError, Result};
use crate::tokenizer::{Tokenizer, check_count};
pub(super) use special::SpecialIds;

const MODEL: &str = "tokenizer.ggml.model";
const TOKENS: &str = "tokenizer.ggml.tokens";
const TYPES: &str = "tokenizer.ggml.token_type";

/// The special tokens of Phi-3 that leave the white space behind them alone.
const PLAIN_OF_PHI3: [&str; 3] = ["<unk>", "<s>", "<|endoftext|>"];

impl Tokenizer {
    /// Reads the metadata of a GGUF file: vocabulary, special tokens and chat template. The model has
    /// `vocab_size` tokens.
    ///
    /// # Errors
    /// A key that is missing or has a wrong value; a kind of tokenizer that this crate does not
    /// implement.
    pub fn from_gguf(file: &GgufFile<'_>, vocab_size: usize) -> Result<Self> {
        let vocabulary = Vocabulary::read(&file.metadata)?;
        check_count(vocabulary.tokens.len(), vocab_size, file.origin())?;
        let json = vocabulary.tokenizer_json()?.to_string();
        let tokenizer = Self::from_json(json.as_bytes(), file.origin())?;
        let config = vocabulary.tokenizer_config()?.to_string();
        tokenizer.with_config(config.as_bytes(), file.origin())
    }
}

/// The role of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenType {
    /// A piece of text.
    Normal,
    /// A special token, also the one for what the vocabulary lacks.
    Special,
    /// A text that is always one token.
    UserDefined,
    /// A single byte, `<0x00>` to `<0xFF>`.
    Byte,
}

impl TokenType {
    fn from_id(id: i32) -> Option<Self> {
        Some(match id {
            // Undefined, normal and unused.
            0 | 1 | 5 => Self::Normal,
            // Unknown and control.
            2 | 3 => Self::Special,
            4 => Self::UserDefined,
            6 => Self::Byte,
            _ => return None,
        })
    }
}

/// The kinds of tokenizers that this crate implements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// BPE on bytes, with ranked merges.
    ByteLevel,
    /// SentencePiece's BPE on characters, with scores.
    SentencePiece,
    /// The same, with ranked merges.
    Gemma4,
}

impl Kind {
    fn read(metadata: &Metadata) -> Result<Self> {
        const KNOWN: &str = "`gpt2` (byte-level BPE), `llama` (SentencePiece's BPE) or `gemma4`";
        match metadata.text(MODEL)? {
            Some("gpt2") => Ok(Self::ByteLevel),
            Some("llama") => Ok(Self::SentencePiece),
            Some("gemma4") => Ok(Self::Gemma4),
            Some(other) => Err(LoadError::Unsupported {
                origin: metadata.origin().to_owned(),
                field: MODEL,
                value: format!("{other:?}"),
                supported: KNOWN,
            }
            .into()),
            None => Err(metadata.wrong(MODEL, KNOWN)),
        }
    }
}

/// What the metadata says of a tokenizer.
struct Vocabulary<'a> {
    metadata: &'a Metadata,
    kind: Kind,
    tokens: &'a [String],
    /// One for each token.
    types: Vec<TokenType>,
    ids: SpecialIds,
}

impl<'a> Vocabulary<'a> {
    fn read(metadata: &'a Metadata) -> Result<Self> {
        let kind = Kind::read(metadata)?;
        let tokens = metadata.texts(TOKENS)?;
        let tokens = tokens.ok_or_else(|| metadata.wrong(TOKENS, "an array of texts"))?;
        let types = read_types(metadata, tokens.len())?;
        let ids = SpecialIds::read(metadata)?;
        Ok(Self { metadata, kind, tokens, types, ids })
    }

    /// The equivalent `tokenizer.json`.
    fn tokenizer_json(&self) -> Result<Value> {
        let mut parts = match self.kind {
            Kind::ByteLevel => byte_level::parts(self)?,
            Kind::SentencePiece | Kind::Gemma4 => sentence_piece::parts(self)?,
        };
        parts["version"] = "1.0".into();
        parts["added_tokens"] = self.added_tokens()?;
        parts["post_processor"] = self.post_processor()?;
        Ok(parts)
    }

    /// The equivalent `tokenizer_config.json`.
    fn tokenizer_config(&self) -> Result<Value> {
        let mut config = Map::new();
        for (name, id) in self.ids.named() {
            if let Some(token) = id.and_then(|id| self.tokens.get(id as usize)) {
                config.insert(name.to_owned(), token.as_str().into());
            }
        }
        let tool_use = self.metadata.text("tokenizer.chat_template.tool_use")?;
        if let Some(template) = self.metadata.text("tokenizer.chat_template")? {
            let templates = match tool_use {
                None => template.into(),
                Some(tool_use) => json!([
                    {"name": "default", "template": template},
                    {"name": "tool_use", "template": tool_use},
                ]),
            };
            config.insert("chat_template".to_owned(), templates);
        }
        Ok(Value::Object(config))
    }

    /// The id of each token.
    fn ids_of_tokens(&self) -> Value {
        let entries = self.tokens.iter().zip(0_u32..);
        Value::Object(entries.map(|(token, id)| (token.clone(), id.into())).collect())
    }

    /// The tokens that are found in a text before any other.
    fn added_tokens(&self) -> Result<Value> {
        // Phi-3's take the white space behind them. Files do not say it, and llama.cpp knows it too.
        // Phi-4-mini, of the same architecture, has another kind of vocabulary.
        let is_phi3 = self.metadata.text(ARCHITECTURE)? == Some("phi3");
        let take_spaces = is_phi3 && self.kind == Kind::SentencePiece;
        let added = self.tokens.iter().zip(&self.types).enumerate().filter_map(|(id, token)| {
            let (content, is_special) = match token {
                (content, TokenType::Special) => (content, true),
                (content, TokenType::UserDefined) => (content, false),
                (_, TokenType::Normal | TokenType::Byte) => return None,
            };
            Some(json!({
                "id": id,
                "content": content,
                "single_word": false,
                "lstrip": false,
                "rstrip": take_spaces && !PLAIN_OF_PHI3.contains(&content.as_str()),
                "normalized": false,
                "special": is_special,
            }))
        });
        Ok(added.collect())
    }

    /// Adds the begin- and end-of-sequence tokens around a text.
    fn post_processor(&self) -> Result<Value> {
        let adds_bos = match self.kind {
            Kind::ByteLevel => pre_tokenizer::PreTokenizer::read(self.metadata)?.adds_bos,
            Kind::SentencePiece | Kind::Gemma4 => true,
        };
        let bos = self.added_id("bos", self.ids.bos, adds_bos)?;
        let eos = self.added_id("eos", self.ids.eos, false)?;
        if bos.is_none() && eos.is_none() {
            return Ok(Value::Null);
        }
        let mut special = Map::new();
        let mut piece = |id: u32| {
            // `SpecialIds::read` has looked it up.
            let token = self.tokens[id as usize].as_str();
            let described = json!({"id": token, "ids": [id], "tokens": [token]});
            special.insert(token.to_owned(), described);
            json!({"SpecialToken": {"id": token, "type_id": 0}})
        };
        let text = json!({"Sequence": {"id": "A", "type_id": 0}});
        let before = bos.map(&mut piece);
        let after = eos.map(&mut piece);
        let single: Vec<_> = before.into_iter().chain([text]).chain(after).collect();
        Ok(json!({
            "type": "TemplateProcessing",
            "single": single,
            "pair": [],
            "special_tokens": special,
        }))
    }

    /// The token to add, if the file says that `name` is added.
    fn added_id(&self, name: &str, id: Option<u32>, default: bool) -> Result<Option<u32>> {
        let key = format!("tokenizer.ggml.add_{name}_token");
        match (self.metadata.flag(&key)?, id) {
            (Some(true), None) if !self.ids.is_outside(name) => {
                Err(self.metadata.wrong(&key, "false, as the file names no such token"))
            }
            (flag, id) => Ok(id.filter(|_| flag.unwrap_or(default))),
        }
    }
}

/// The type of each token. Without types, all tokens are text.
fn read_types(metadata: &Metadata, count: usize) -> Result<Vec<TokenType>> {
    let Some(types) = metadata.integers(TYPES)? else {
        return Ok(vec![TokenType::Normal; count]);
    };
    if types.len() != count {
        return Err(metadata.wrong(TYPES, format!("an array of {count} integers, as {TOKENS}")));
    }
    let known = types.iter().map(|id| TokenType::from_id(*id));
    known.collect::<Option<_>>().ok_or_else(|| metadata.wrong(TYPES, "types from 0 to 6"))
}
