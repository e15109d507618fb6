//! Tokenization, decoding, and chat templates.

mod chat;
mod config;
mod decoding;
mod file_check;
mod incremental;
mod jinja;
mod stop_strings;
mod token_bytes;

use std::str::FromStr;

use tokenizers::AddedToken;

use crate::error::{Error, Result};
use crate::panics;
pub use chat::{ChatOptions, ChatTemplate, Message, Role};
pub use config::SpecialTokens;
use config::TokenizerConfig;
use decoding::Decoding;
pub use incremental::IncrementalDecoder;
pub use stop_strings::{MAX_STOP_LENGTH, MAX_STOP_STRINGS, StopMatch, StopStrings};

/// A tokenizer read from `tokenizer.json`, with the additions of `tokenizer_config.json` and
/// `chat_template.jinja`.
///
/// # Which special tokens are added
/// The policy is that of transformers 5, the reference:
///
/// - `tokenizer.json` decides. If its post-processor adds the begin-of-sequence token,
///   [`Tokenizer::encode`] adds it too, and nothing else adds another.
/// - `add_bos_token` and `add_eos_token` of `tokenizer_config.json` are ignored: they apply to
///   tokenizers without a `tokenizer.json`.
/// - A chat template writes all its special tokens itself, so none are added to its output.
/// - Special tokens within a text are parsed as special tokens, in prompts and chat messages:
///   `encode("<s>")` is the id of `<s>`. Untrusted text can therefore end a turn and begin another.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    origin: String,
    decoding: Decoding,
    special_tokens: SpecialTokens,
    chat_template: Option<ChatTemplate>,
}

/// How a token decodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// Text or, in a byte-level tokenizer, a byte string.
    Text,
    /// One byte, decoded together with the run of byte tokens around it.
    Byte,
    /// No text: a special token, or an id outside the vocabulary.
    Silent,
}

impl Tokenizer {
    /// Reads a `tokenizer.json`. `origin` names the file in errors.
    ///
    /// # Errors
    /// JSON that does not describe a tokenizer.
    pub fn from_json(json: &[u8], origin: &str) -> Result<Self> {
        let text = std::str::from_utf8(json).map_err(|error| unusable(origin, error))?;
        file_check::check(json).map_err(|problem| unusable(origin, problem))?;
        let mut inner = trusting(origin, || tokenizers::Tokenizer::from_str(text))?;
        // Files may carry truncation and padding from training. A prompt must stay unchanged.
        inner.with_truncation(None).map_err(|error| unusable(origin, error))?;
        inner.with_padding(None);
        Ok(Self {
            decoding: Decoding::of(inner.get_decoder()),
            inner,
            origin: origin.to_owned(),
            special_tokens: SpecialTokens::new(),
            chat_template: None,
        })
    }

    /// Adds the special tokens and the chat template of a `tokenizer_config.json`. `origin` names
    /// the file in errors.
    ///
    /// # Errors
    /// Malformed JSON, or fields of the wrong type.
    pub fn with_config(mut self, json: &[u8], origin: &str) -> Result<Self> {
        let config = TokenizerConfig::from_json(json, origin)?;
        // A token outside the vocabulary has no id that the model could know.
        let known = config.special_tokens.values().filter(|token| self.id(token).is_some());
        let tokens: Vec<AddedToken> =
            known.map(|token| AddedToken::from(token.as_str(), true)).collect();
        trusting(origin, || self.inner.add_special_tokens(tokens))?;
        self.special_tokens = config.special_tokens;
        if let Some(source) = config.chat_template {
            self.chat_template = Some(ChatTemplate::new(source, origin));
        }
        Ok(self)
    }

    /// Replaces the chat template of `tokenizer_config.json`, for models with a
    /// `chat_template.jinja`.
    pub fn with_chat_template(mut self, template: ChatTemplate) -> Self {
        self.chat_template = Some(template);
        self
    }

    /// Whether the model came with a chat template.
    pub fn has_chat_template(&self) -> bool {
        self.chat_template.is_some()
    }

    // ANCHOR: encode
    /// The ids of `text`, with the special tokens that `tokenizer.json` adds.
    ///
    /// # Errors
    /// Text that the tokenizer cannot encode.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>> {
        self.encode_with(text, true)
    }
    // ANCHOR_END: encode

    /// The ids of a conversation, up to the start of the assistant's answer. Messages of a developer
    /// are those of the system for a template that does not know the role: see
    /// [`ChatTemplate::adapt`].
    ///
    /// # Errors
    /// A model without a chat template; the errors of [`ChatTemplate::render`] and
    /// [`Tokenizer::encode`].
    pub fn encode_chat(&self, messages: &[Message], options: &ChatOptions) -> Result<Vec<u32>> {
        let template = self.chat_template.as_ref().ok_or(Error::NoChatTemplate)?;
        let messages = template.adapt(messages);
        self.encode_with(&template.render(&messages, &self.special_tokens, options)?, false)
    }

    // ANCHOR: encode_with
    fn encode_with(&self, text: &str, add_special_tokens: bool) -> Result<Vec<u32>> {
        let encoding = trusting(&self.origin, || self.inner.encode(text, add_special_tokens))?;
        Ok(encoding.get_ids().to_vec())
    }
    // ANCHOR_END: encode_with

    // ANCHOR: decode
    /// The text of `ids`, without special tokens. Bytes that are not UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// Ids that the tokenizer cannot decode.
    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        trusting(&self.origin, || self.inner.decode(ids, true))
    }
    // ANCHOR_END: decode

    /// The vocabulary entry of an id.
    pub fn token(&self, id: u32) -> Option<String> {
        self.inner.id_to_token(id)
    }

    /// The greatest id, special tokens included. Ids may have gaps.
    pub fn largest_id(&self) -> Option<u32> {
        self.inner.get_vocab(true).into_values().max()
    }

    /// The id of a vocabulary entry.
    fn id(&self, token: &str) -> Option<u32> {
        self.inner.token_to_id(token)
    }

    /// The begin-of-sequence token, if `tokenizer_config.json` names one.
    pub fn bos_id(&self) -> Option<u32> {
        self.id(self.special_tokens.get("bos_token")?)
    }

    /// The number of tokens, special tokens included.
    pub fn vocab_size(&self) -> usize {
        self.inner.get_vocab_size(true)
    }

    fn kind(&self, id: u32) -> TokenKind {
        match self.token(id) {
            None => TokenKind::Silent,
            Some(token) if self.inner.get_added_vocabulary().is_special_token(&token) => {
                TokenKind::Silent
            }
            Some(token) if self.decoding == Decoding::Rows && byte_of(&token).is_some() => {
                TokenKind::Byte
            }
            Some(_) => TokenKind::Text,
        }
    }
}

/// The byte of one of the byte tokens `<0x00>` to `<0xFF>`.
fn byte_of(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    match digits.len() {
        2 => u8::from_str_radix(digits, 16).ok(),
        _ => None,
    }
}

/// Calls the crate `tokenizers`, and catches its panics on some files and texts.
fn trusting<T>(origin: &str, call: impl FnOnce() -> tokenizers::Result<T>) -> Result<T> {
    match panics::contain("tokenizers", call) {
        Ok(result) => result.map_err(|error| unusable(origin, error)),
        Err(Error::Panicked { message, .. }) => {
            Err(unusable(origin, format!("`tokenizers` panicked: {message}")))
        }
        Err(error) => Err(error),
    }
}

fn unusable(origin: &str, error: impl ToString) -> Error {
    Error::Tokenizer { origin: origin.to_owned(), message: error.to_string() }
}
