//! A text to token ids, and what bytes an id stands for.

use std::collections::HashMap;
use std::error::Error;

use serde::Deserialize;

use crate::broken::{call, fail};
use crate::parts::Parts;

/// The tokens of a model, and the merges that make them.
#[derive(Debug, Clone)]
pub struct Vocabulary {
    ids: HashMap<String, u32>,
    merges: Vec<(String, String)>,
    /// `[vocab]`
    bytes: Vec<Vec<u8>>,
    /// Ids that stand for no text.
    special: Vec<u32>,
}

/// `tokenizer.json`, as far as the engine needs it.
#[derive(Deserialize)]
struct File {
    added_tokens: Vec<AddedToken>,
    model: Bpe,
}

#[derive(Deserialize)]
struct AddedToken {
    id: u32,
}

#[derive(Deserialize)]
struct Bpe {
    vocab: HashMap<String, u32>,
    merges: Vec<(String, String)>,
}

impl Vocabulary {
    /// Reads a byte-level BPE tokenizer.
    ///
    /// # Errors
    /// A file of another kind.
    pub fn read(file: &[u8]) -> Result<Self, Box<dyn Error>> {
        let file: File = serde_json::from_slice(file)?;
        let letters: HashMap<char, u8> = (0..=u8::MAX).map(|byte| (letter(byte), byte)).collect();
        let mut bytes = vec![Vec::new(); file.model.vocab.len()];
        for (token, &id) in &file.model.vocab {
            let place = bytes.get_mut(id as usize).ok_or("an id is beyond the vocabulary")?;
            *place = token.chars().filter_map(|c| letters.get(&c).copied()).collect();
        }
        Ok(Self {
            ids: file.model.vocab,
            merges: file.model.merges,
            bytes,
            special: file.added_tokens.iter().map(|token| token.id).collect(),
        })
    }

    /// The ids of a text: each word as letters that stand for its bytes, cut by the merges.
    fn encode(&self, parts: &Parts, text: &str) -> Vec<u32> {
        let merges: Vec<(&str, &str)> =
            self.merges.iter().map(|(left, right)| (left.as_str(), right.as_str())).collect();
        let mut ids = Vec::new();
        for word in words(text) {
            let letters: String = word.bytes().map(letter).collect();
            for token in call("merge", || (parts.merge)(&letters, &merges)) {
                match self.ids.get(&token) {
                    Some(&id) => ids.push(id),
                    None => fail("merge", format!("made {token:?} of {word:?}, which is no token")),
                }
            }
        }
        ids
    }

    /// The ids of a prompt: the token that every text begins with, and the text's.
    pub fn prompt(&self, parts: &Parts, bos: u32, text: &str) -> Vec<u32> {
        let mut ids = vec![bos];
        ids.extend(self.encode(parts, text));
        ids
    }

    /// The text of all of these ids.
    pub fn text(&self, parts: &Parts, ids: &[u32]) -> String {
        let bytes: Vec<&[u8]> = self.bytes.iter().map(Vec::as_slice).collect();
        call("detokenize", || (parts.detokenize)(ids, &bytes, &self.special))
    }

    /// The bytes of a token; none for one that stands for no text.
    pub fn bytes_of(&self, id: u32) -> &[u8] {
        if self.special.contains(&id) {
            return &[];
        }
        &self.bytes[id as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// The letter that stands for a byte in a byte-level vocabulary: itself where it can be seen, and
/// else one from 256 on.
fn letter(byte: u8) -> char {
    let seen = |byte: &u8| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
    if seen(&byte) {
        return byte.into();
    }
    let before = (0..byte).filter(|byte| !seen(byte)).count();
    char::from_u32(256 + before as u32).expect("few are not seen")
}

/// The words of a text, each with the space before it: the pattern of GPT-2's tokenizer, by hand.
fn words(text: &str) -> Vec<&str> {
    const CONTRACTIONS: [&str; 7] = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"];
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let contraction = CONTRACTIONS.iter().find(|end| rest.starts_with(**end));
        let length = match contraction {
            Some(end) => end.len(),
            None => word_length(rest, first),
        };
        let (word, behind) = rest.split_at(length);
        words.push(word);
        rest = behind;
    }
    words
}

/// The length of the first word of a text that begins with this character.
fn word_length(text: &str, first: char) -> usize {
    let space = usize::from(first == ' ');
    let kind = text[space..].chars().next().map(Kind::of);
    if let Some(kind) = kind.filter(|kind| *kind != Kind::Space) {
        return space + run(&text[space..], kind);
    }
    // White space. The last of it belongs to the word behind it.
    let all = run(text, Kind::Space);
    let last = text[..all].chars().next_back().map_or(0, char::len_utf8);
    if all == text.len() || all == last {
        all
    } else {
        all - last
    }
}

/// How many bytes at the beginning of a text are characters of this kind.
fn run(text: &str, kind: Kind) -> usize {
    text.find(|c| Kind::of(c) != kind).unwrap_or(text.len())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Number,
    Space,
    Other,
}

impl Kind {
    fn of(c: char) -> Self {
        if c.is_whitespace() {
            Self::Space
        } else if c.is_alphabetic() {
            Self::Letter
        } else if c.is_numeric() {
            Self::Number
        } else {
            Self::Other
        }
    }
}
