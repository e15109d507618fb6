//! Texts that contain the text of a special token, and mean the text.
//!
//! `tokenizers` finds special tokens wherever their text is. A text that is not to have any gets a
//! mark into each: a character that occurs nowhere else, so that what is found is the template's
//! own. The mark is removed again before the model of the tokenizer sees the text.

use std::cell::Cell;

use aho_corasick::AhoCorasick;
use serde_json::Value;
use tokenizers::{OffsetType, PreTokenizer};

use super::{
    ChatOptions, ChatTemplate, FunctionCall, Message, Tokenizer, ToolCall, check_memory, trusting,
    unusable,
};
use crate::error::Result;

/// Characters that no text should have: those for private use, of the planes 15 and 16.
const MARKS: std::ops::RangeInclusive<char> = '\u{F0000}'..='\u{10FFFD}';

/// The texts of a tokenizer's special tokens, of two characters or more: there is no inside of one
/// character.
#[derive(Debug, Clone)]
pub(super) struct SpecialTexts {
    finder: AhoCorasick,
    /// Sorted, to find those that begin with something.
    texts: Vec<String>,
    /// The same from the last character to the first, to find those that end with something.
    reversed: Vec<String>,
    /// The characters of the longest.
    longest: usize,
}

impl SpecialTexts {
    /// # Errors
    /// More texts than fit into a search for all of them.
    pub(super) fn of(inner: &tokenizers::Tokenizer, origin: &str) -> Result<Self> {
        let added = inner.get_added_tokens_decoder().into_values();
        let special = added.filter(|token| token.special && token.content.chars().count() > 1);
        let mut texts: Vec<String> = special.map(|token| token.content).collect();
        texts.sort_unstable();
        let mut reversed: Vec<String> = texts.iter().map(|text| reverse(text)).collect();
        reversed.sort_unstable();
        let finder = AhoCorasick::new(&texts).map_err(|error| unusable(origin, error))?;
        let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
        Ok(Self { finder, texts, reversed, longest })
    }

    /// A text with a mark in every special token's text, also in one whose beginning or end is in
    /// another text beside it.
    fn marked(&self, text: &str, mark: char) -> String {
        let found = self.finder.find_overlapping_iter(text).map(|found| found.range());
        let mut places: Vec<usize> =
            found.map(|found| after_first_char(text, found.start)).collect();
        for (start, _) in text.char_indices().rev().take(self.longest) {
            if any_begins_with(&self.texts, &text[start..]) {
                places.push(after_first_char(text, start));
            }
        }
        let mut head = String::new();
        for (start, c) in text.char_indices().take(self.longest) {
            head.insert(0, c);
            if any_begins_with(&self.reversed, &head) {
                places.push(start);
            }
        }
        places.sort_unstable();
        places.dedup();
        let mut marked = String::with_capacity(text.len() + places.len() * mark.len_utf8());
        let mut rest = 0;
        for place in places {
            marked.push_str(&text[rest..place]);
            marked.push(mark);
            rest = place;
        }
        marked + &text[rest..]
    }
}

fn reverse(text: &str) -> String {
    text.chars().rev().collect()
}

/// Where the character ends that begins at `start`.
fn after_first_char(text: &str, start: usize) -> usize {
    start + text[start..].chars().next().map_or(0, char::len_utf8)
}

/// Whether any of these texts, which are sorted, begins with `begin`.
fn any_begins_with(sorted: &[String], begin: &str) -> bool {
    let first = sorted.partition_point(|text| text.as_str() < begin);
    sorted.get(first).is_some_and(|text| text.starts_with(begin))
}

impl Message {
    /// Whether one of its texts contains a character.
    fn contains(&self, mark: char) -> bool {
        let found = Cell::new(false);
        self.map_texts(&|text| {
            found.set(found.get() || text.contains(mark));
            String::new()
        });
        found.get()
    }

    /// The same message with other texts: its content, and those of the calls.
    fn map_texts(&self, map: &impl Fn(&str) -> String) -> Self {
        let call = |call: &ToolCall| ToolCall {
            id: map(&call.id),
            function: FunctionCall {
                name: map(&call.function.name),
                arguments: map_value(&call.function.arguments, map),
            },
        };
        Self {
            role: self.role,
            content: self.content.as_deref().map(map),
            tool_calls: self.tool_calls.iter().map(call).collect(),
            tool_call_id: self.tool_call_id.as_deref().map(map),
            name: self.name.as_deref().map(map),
            reasoning: self.reasoning.as_deref().map(map),
        }
    }
}

/// JSON with other texts, in which names of fields are texts too.
fn map_value(value: &Value, map: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(map(text)),
        Value::Array(items) => items.iter().map(|item| map_value(item, map)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (map(name), map_value(value, map))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// A conversation as a template has written it.
#[derive(Debug)]
pub(crate) struct WrittenChat {
    pub(crate) text: String,
    /// The character in the texts of special tokens that are text, if there are any.
    pub(super) mark: Option<char>,
}

impl Tokenizer {
    /// As [`encode`](Self::encode), but the text of a special token within `text` is text.
    ///
    /// # Errors
    /// Text that the tokenizer cannot encode.
    pub fn encode_text(&self, text: &str) -> Result<Vec<u32>> {
        self.encode_as_text(text, true)
    }

    /// As [`encode_text`](Self::encode_text), without the special tokens that `tokenizer.json` adds.
    ///
    /// # Errors
    /// As [`encode_text`](Self::encode_text).
    pub fn encode_bare_text(&self, text: &str) -> Result<Vec<u32>> {
        self.encode_as_text(text, false)
    }

    pub(super) fn encode_as_text(&self, text: &str, add_special_tokens: bool) -> Result<Vec<u32>> {
        let mark = self.unused_mark(|mark| text.contains(mark))?;
        let marked = self.special_texts.marked(text, mark);
        if marked == text {
            return self.encode_with(text, add_special_tokens);
        }
        self.encode_marked(&marked, mark, add_special_tokens)
    }

    /// Messages as a template writes them, with a mark in each special token's text within them.
    pub(super) fn write_messages(
        &self,
        template: &ChatTemplate,
        messages: &[Message],
        options: &ChatOptions,
    ) -> Result<WrittenChat> {
        let is_used = |mark| messages.iter().any(|message| message.contains(mark));
        let mark = self.unused_mark(is_used)?;
        let marked_text = |text: &str| self.special_texts.marked(text, mark);
        let marked: Vec<Message> =
            messages.iter().map(|message| message.map_texts(&marked_text)).collect();
        let text = template.render(&marked, &self.special_tokens, options)?;
        Ok(WrittenChat { text, mark: (marked != messages).then_some(mark) })
    }

    /// A character that can be a mark.
    fn unused_mark(&self, is_used: impl Fn(char) -> bool) -> Result<char> {
        let is_used = |&mark: &char| {
            is_used(mark) || self.special_texts.texts.iter().any(|text| text.contains(mark))
        };
        // A text would have to hold all of the first hundred on purpose.
        let unused = MARKS.take(100).find(|mark| !is_used(mark));
        unused.ok_or_else(|| {
            let message = "the text has too many of the characters U+F0000 to U+F0063";
            unusable(&self.origin, message)
        })
    }

    /// As `tokenizers` encodes, but removes the marks once special tokens are found.
    pub(super) fn encode_marked(
        &self,
        text: &str,
        mark: char,
        add_special_tokens: bool,
    ) -> Result<Vec<u32>> {
        check_memory(text)?;
        let inner = &self.inner;
        let encode = || {
            let mut pieces =
                inner.get_added_vocabulary().extract_and_normalize(inner.get_normalizer(), text);
            pieces.normalize(|piece| {
                piece.filter(|c| c != mark);
                Ok(())
            })?;
            if let Some(pre_tokenizer) = inner.get_pre_tokenizer() {
                pre_tokenizer.pre_tokenize(&mut pieces)?;
            }
            let model = inner.get_model();
            pieces.tokenize(|piece| tokenizers::Model::tokenize(model, piece.get()))?;
            let encoding = pieces.into_encoding(None, 0, OffsetType::Byte)?;
            inner.post_process(encoding, None, add_special_tokens)
        };
        Ok(trusting(&self.origin, encode)?.get_ids().to_vec())
    }
}
