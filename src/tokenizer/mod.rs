//! Text to token ids, ids back to text, and conversations to prompts by chat templates.

mod chat;
mod config;
mod decoding;
mod file_check;
mod forms;
mod incremental;
mod jinja;
mod plain;
mod special_text;
mod stop_strings;
mod thoughts;
mod token_bytes;

use std::str::FromStr;

use tokenizers::AddedToken;

use crate::error::{Error, LoadError, RequestError, Result, ServiceError};
use crate::outside::in_words;
use crate::{memory, panics};
pub use chat::{
    ChatEnding, ChatOptions, ChatTemplate, FunctionCall, Message, Role, ToolCall, Variable,
    check_variable,
};
pub use config::SpecialTokens;
use config::TokenizerConfig;
use decoding::Decoding;
pub use forms::short_id;
pub use incremental::IncrementalDecoder;
pub use plain::{END_OF_PARAGRAPH, paragraphs};
use special_text::SpecialTexts;
pub(crate) use special_text::WrittenChat;
pub use stop_strings::{MAX_STOP_LENGTH, MAX_STOP_STRINGS, StopMatch, StopStrings};
pub use thoughts::{AnswerPiece, Thoughts};

/// Turns text into token ids and back. It is read from `tokenizer.json`, with the additions of
/// `tokenizer_config.json` and `chat_template.jinja`.
///
/// # Which special tokens are added?
/// We follow transformers 5, the reference:
///
/// - `tokenizer.json` decides. If its post-processor adds the begin-of-sequence token,
///   [`Tokenizer::encode`] adds it too, and nothing else adds another.
/// - `add_bos_token` and `add_eos_token` of `tokenizer_config.json` are ignored: they apply to
///   tokenizers without a `tokenizer.json`.
/// - A chat template writes all its special tokens itself, so none are added to its output.
/// - Special tokens within a prompt are parsed as special tokens: `encode("<s>")` is the id of
///   `<s>`.
///
/// In one point we differ. Within the messages of a chat, a special token's text stays text, because otherwise a
/// message could end its turn and begin another. If you want transformers' behaviour, ask for
/// [`ChatOptions::parse_special`]. [`Tokenizer::encode_text`] treats a prompt in this way too.
///
/// ```
/// use slowburn::Tokenizer;
///
/// # let file = concat!(env!("CARGO_MANIFEST_DIR"), "/models/ember/tokenizer.json");
/// # let json = std::fs::read(file).unwrap();
/// let tokenizer = Tokenizer::from_json(&json, "tokenizer.json")?;
/// let ids = tokenizer.encode("Once upon a time")?;
/// assert_eq!(tokenizer.decode(&ids)?, "Once upon a time");
/// # Ok::<(), slowburn::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    origin: String,
    decoding: Decoding,
    special_tokens: SpecialTokens,
    chat_template: Option<ChatTemplate>,
    special_texts: SpecialTexts,
}

/// How a text becomes token ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextOptions {
    /// Whether to add the special tokens that `tokenizer.json` adds to a text.
    pub add_special_tokens: bool,
    /// Whether the texts of special tokens are special tokens. Otherwise they are text.
    pub parse_special: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { add_special_tokens: true, parse_special: true }
    }
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
        Self::from_json_for(json, origin, usize::MAX)
    }

    /// As [`from_json`](Self::from_json), for a model with `vocab_size` tokens. A file with far more
    /// is refused before a tokenizer is made of it, which takes many times the file's size.
    pub(crate) fn from_json_for(json: &[u8], origin: &str, vocab_size: usize) -> Result<Self> {
        let text = std::str::from_utf8(json).map_err(|error| unusable(origin, in_words(error)))?;
        let tokens = file_check::check(json).map_err(|problem| unusable(origin, problem))?;
        check_count(tokens, vocab_size, origin)?;
        let mut inner = trusting(origin, || tokenizers::Tokenizer::from_str(text))?;
        // Files may carry truncation and padding from training. A prompt must stay unchanged.
        inner.with_truncation(None).map_err(|error| unusable(origin, error))?;
        inner.with_padding(None);
        Ok(Self {
            decoding: Decoding::of(inner.get_decoder()),
            special_texts: SpecialTexts::of(&inner, origin)?,
            inner,
            origin: origin.to_owned(),
            special_tokens: SpecialTokens::new(),
            chat_template: None,
        })
    }

    /// Adds the special tokens of a `special_tokens_map.json`, which older models have. `origin` names
    /// the file in errors. What a [`tokenizer_config.json`](Self::with_config) says comes later, and as
    /// in transformers only one with `added_tokens_decoder` comes before it.
    ///
    /// # Errors
    /// Malformed JSON, or fields of the wrong type.
    pub fn with_special_tokens_map(mut self, json: &[u8], origin: &str) -> Result<Self> {
        let tokens = config::special_tokens_map(json, origin)?;
        self.make_special(tokens, origin)?;
        Ok(self)
    }

    /// Adds the special tokens and the chat template of a `tokenizer_config.json`. `origin` names
    /// the file in errors.
    ///
    /// # Errors
    /// Malformed JSON, or fields of the wrong type.
    pub fn with_config(mut self, json: &[u8], origin: &str) -> Result<Self> {
        let config = TokenizerConfig::from_json(json, origin)?;
        let mut tokens = config.special_tokens;
        if !config.is_complete {
            tokens.extend(std::mem::take(&mut self.special_tokens));
        }
        self.make_special(tokens, origin)?;
        if let Some(template) = ChatTemplate::of(config.chat_templates, origin) {
            self.chat_template = Some(template);
        }
        Ok(self)
    }

    /// Makes tokens special, and these the ones that templates know by name.
    fn make_special(&mut self, tokens: SpecialTokens, origin: &str) -> Result<()> {
        let added = self.inner.get_added_tokens_decoder();
        let token = |text: &String| {
            // A token outside the vocabulary has no id that the model could know.
            let id = self.id(text)?;
            // Whether it takes the white space beside it, `tokenizer.json` alone says.
            let known = added.get(&id).cloned().unwrap_or_default();
            let content = text.clone();
            Some(AddedToken { content, normalized: false, special: true, ..known })
        };
        let special: Vec<AddedToken> = tokens.values().filter_map(token).collect();
        trusting(origin, || self.inner.add_special_tokens(special))?;
        self.special_texts = SpecialTexts::of(&self.inner, origin)?;
        self.special_tokens = tokens;
        Ok(())
    }

    /// Adds a chat template by its name, as transformers keeps those beside the default in the folder
    /// `additional_chat_templates`. The one named `tool_use` is for conversations with tools.
    #[must_use]
    pub fn with_named_template(
        mut self,
        name: &str,
        source: impl Into<String>,
        origin: &str,
    ) -> Self {
        let template = self.chat_template.take().unwrap_or_else(|| ChatTemplate::nameless(origin));
        self.chat_template = Some(template.with_named(name, source.into()));
        self
    }

    /// Replaces the chat template of `tokenizer_config.json`, for models with a
    /// `chat_template.jinja`.
    pub fn with_chat_template(mut self, template: ChatTemplate) -> Self {
        self.chat_template = Some(template);
        self
    }

    /// The chat template that the model came with.
    pub fn chat_template(&self) -> Option<&ChatTemplate> {
        self.chat_template.as_ref()
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

    /// As [`encode`](Self::encode), without the special tokens that `tokenizer.json` adds.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn encode_bare(&self, text: &str) -> Result<Vec<u32>> {
        self.encode_with(text, false)
    }

    /// The ids of `text`, as the options say.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn encode_as(&self, text: &str, options: TextOptions) -> Result<Vec<u32>> {
        if options.parse_special {
            self.encode_with(text, options.add_special_tokens)
        } else {
            self.encode_as_text(text, options.add_special_tokens)
        }
    }

    /// The ids of a conversation, up to where the options say. Messages of a developer
    /// are those of the system for a template that does not know the role: see
    /// [`ChatTemplate::adapt`]. The text of a special token within a message is text, unless the
    /// options say otherwise.
    ///
    /// # Errors
    /// A model without a chat template; the errors of [`ChatTemplate::render`] and
    /// [`Tokenizer::encode`].
    pub fn encode_chat(&self, messages: &[Message], options: &ChatOptions) -> Result<Vec<u32>> {
        self.encode_written(&self.write_chat(messages, options)?)
    }

    /// A conversation as the template writes it.
    pub(crate) fn write_chat(
        &self,
        messages: &[Message],
        options: &ChatOptions,
    ) -> Result<WrittenChat> {
        let template =
            self.chat_template.as_ref().ok_or(Error::Request(RequestError::NoChatTemplate))?;
        let messages = template.adapt(messages, &self.special_tokens, options);
        if options.parse_special {
            let text = template.render(&messages, &self.special_tokens, options)?;
            return Ok(WrittenChat { text, mark: None });
        }
        self.write_messages(template, &messages, options)
    }

    /// The ids of what a template has written, which has all its special tokens.
    pub(crate) fn encode_written(&self, chat: &WrittenChat) -> Result<Vec<u32>> {
        match chat.mark {
            None => self.encode_with(&chat.text, false),
            Some(mark) => self.encode_marked(&chat.text, mark, false),
        }
    }

    /// Checks that a text could be at most `context` tokens, before it is encoded: that takes a
    /// microsecond or more for each byte, and more than a hundred times the memory.
    ///
    /// A text that is likely to fit always passes: its tokens are counted then, which is more exact. Of a
    /// longer one, parts are encoded until they have too many tokens, so that this takes no longer than
    /// to encode what fits.
    ///
    /// # Errors
    /// A text whose parts have more tokens than the context.
    pub(crate) fn check_length(&self, text: &str, context: usize) -> Result<()> {
        /// Most texts have about so many bytes for each token.
        const BYTES_OF_TOKEN: usize = 4;
        const PART: usize = 64 << 10;
        /// A part may have a few tokens more than the text has there, since it ends and begins elsewhere.
        const OF_CUT: usize = 64;
        let bytes = text.len();
        if bytes <= context.saturating_mul(BYTES_OF_TOKEN).max(PART) {
            return Ok(());
        }
        let (mut rest, mut tokens) = (text, 0);
        while tokens <= context {
            if rest.is_empty() {
                return Ok(());
            }
            let end = rest.floor_char_boundary(PART);
            let space = rest[..end].rfind(char::is_whitespace).filter(|&at| at > PART / 2);
            let (part, behind) = rest.split_at(space.unwrap_or(end));
            tokens += self.encode_with(part, false)?.len().saturating_sub(OF_CUT);
            rest = behind;
        }
        Err(RequestError::TextTooLong { bytes, context }.into())
    }

    // ANCHOR: encode_with
    fn encode_with(&self, text: &str, add_special_tokens: bool) -> Result<Vec<u32>> {
        check_memory(text)?;
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

    /// The greatest id of the vocabulary itself, without the tokens that were added to it: some stand
    /// for images, and a model of text alone has no row for them.
    #[cfg(feature = "burn")]
    pub(crate) fn largest_own_id(&self) -> Option<u32> {
        self.inner.get_vocab(false).into_values().max()
    }

    /// The id of a vocabulary entry.
    fn id(&self, token: &str) -> Option<u32> {
        self.inner.token_to_id(token)
    }

    /// The id of a special token, which decodes to no text.
    pub fn special_id(&self, text: &str) -> Option<u32> {
        self.id(text).filter(|&id| self.kind(id) == TokenKind::Silent)
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

/// Checks that the memory is there that `tokenizers` takes for a long text.
fn check_memory(text: &str) -> Result<()> {
    /// Texts up to this length are not looked at.
    const FEW_BYTES: usize = 1 << 20;
    /// For each byte of a text of one-byte tokens: measured, and rounded up.
    const BYTES_PER_BYTE: u128 = 160;
    let (bytes, memory) = (text.len(), text.len() as u128 * BYTES_PER_BYTE);
    if bytes <= FEW_BYTES || memory::fits(memory) {
        Ok(())
    } else {
        Err(RequestError::TextTooLarge { bytes, memory }.into())
    }
}

/// Refuses a tokenizer with far more tokens than the model has. Of a few too many, the tokenizer
/// names the first.
pub(crate) fn check_count(tokens: usize, vocab_size: usize, origin: &str) -> Result<()> {
    const FEW: usize = 1 << 16;
    if tokens.saturating_sub(vocab_size) <= FEW {
        return Ok(());
    }
    Err(LoadError::TokenizerTooMany { origin: origin.to_owned(), tokens, vocab_size }.into())
}

/// Calls the crate `tokenizers`, and catches its panics on some files and texts.
fn trusting<T>(origin: &str, call: impl FnOnce() -> tokenizers::Result<T>) -> Result<T> {
    match panics::contain_quietly("tokenizers", call) {
        Ok(result) => result.map_err(|error| unusable(origin, error)),
        Err(Error::Service(ServiceError::Panicked { message, .. })) => {
            Err(unusable(origin, format!("the crate `tokenizers` fails on it: {message}")))
        }
        Err(error) => Err(error),
    }
}

fn unusable(origin: &str, error: impl ToString) -> Error {
    Error::Load(LoadError::Tokenizer { origin: origin.to_owned(), message: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens of a longer text are counted part by part: how long the longest token is says little.
    #[test]
    fn a_text_that_has_more_tokens_than_a_context_is_refused_before_all_of_them_are_found() {
        let json = include_bytes!("../../tests/fixtures/tokenizers/byte-level/tokenizer.json");
        let tokenizer = Tokenizer::from_json(json, "tokenizer.json").unwrap();
        for (word, count) in [(" fox", 1 << 16), ("é", 1 << 17), ("    ", 1 << 16)] {
            let text = word.repeat(count);
            let tokens = tokenizer.encode_bare(&text).unwrap().len();
            assert!(tokenizer.check_length(&text, tokens).is_ok(), "{word}");
            let few = tokens / 2;
            let refused = tokenizer.check_length(&text.repeat(4), few);
            assert!(
                matches!(refused, Err(Error::Request(RequestError::TextTooLong { .. }))),
                "{word}: {refused:?}"
            );
        }
        // What is likely to fit is not looked at.
        assert!(tokenizer.check_length(&"x".repeat(64 << 10), 1).is_ok());
        // To find all of these would take minutes.
        let long = "once upon a time ".repeat(10_000_000);
        let start = std::time::Instant::now();
        assert!(tokenizer.check_length(&long, 100_000).is_err());
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
}
