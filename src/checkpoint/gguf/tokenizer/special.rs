//! The ids of special tokens.

use super::super::metadata::{Metadata, Value};
use crate::error::Result;

/// Ends of a text, of a turn and of a message, as llama.cpp knows them by their texts.
const ENDS: [&str; 11] = [
    "<|eot_id|>",
    "<|eom_id|>",
    "<|im_end|>",
    "<|end|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<EOT>",
    "[EOT]",
    "<｜end▁of▁sentence｜>",
    "<end_of_utterance>",
];

/// The special tokens that the metadata names.
#[derive(Debug, Default)]
pub(in crate::checkpoint::gguf) struct SpecialIds {
    /// The keys whose ids are outside the vocabulary, with these ids. As in llama.cpp, there are no such
    /// tokens then.
    pub(in crate::checkpoint::gguf) outside: Vec<(String, String)>,
    pub(in crate::checkpoint::gguf) bos: Option<u32>,
    pub(super) eos: Option<u32>,
    /// The ends of a turn and of a message: a chat model stops there too.
    eot: Option<u32>,
    eom: Option<u32>,
    pub(super) unknown: Option<u32>,
    separator: Option<u32>,
    padding: Option<u32>,
    cls: Option<u32>,
    mask: Option<u32>,
}

impl SpecialIds {
    pub(in crate::checkpoint::gguf) fn read(metadata: &Metadata) -> Result<Self> {
        let count = metadata.texts(super::TOKENS)?.map_or(usize::MAX, <[String]>::len);
        let mut outside = Vec::new();
        let mut id = |name: &str| -> Result<Option<u32>> {
            let key = key_of(name);
            let found = match metadata.get(&key) {
                None => return Ok(None),
                Some(Value::Signed(..0)) => None,
                Some(_) => metadata.size(&key)?.filter(|id| *id < count),
            };
            let found = found.and_then(|id| u32::try_from(id).ok());
            if let (None, Some(value)) = (found, metadata.get(&key)) {
                outside.push((key, value.to_string()));
            }
            Ok(found)
        };
        let ids = Self {
            outside: Vec::new(),
            bos: id("bos")?,
            eos: id("eos")?,
            eot: id("eot")?,
            eom: id("eom")?,
            unknown: id("unknown")?,
            // The format spells it so.
            separator: id("seperator")?,
            padding: id("padding")?,
            cls: id("cls")?,
            mask: id("mask")?,
        };
        Ok(Self { outside, ..ids })
    }

    /// Whether the file names a token that the vocabulary does not have.
    pub(super) fn is_outside(&self, name: &str) -> bool {
        self.outside.iter().any(|(key, _)| *key == key_of(name))
    }

    /// The tokens at which a model stops: those that the metadata names, and those whose text says
    /// so. Files of Gemma 3 and Phi-3 name the end of a text alone, and a turn would go on for ever.
    /// llama.cpp goes by the texts too.
    pub(in crate::checkpoint::gguf) fn ends(&self, metadata: &Metadata) -> Result<Vec<u32>> {
        let tokens = metadata.texts(super::TOKENS)?.unwrap_or_default();
        let place = |end: &&str| tokens.iter().position(|token| token == end);
        let by_text = ENDS.iter().filter_map(place).map(|id| id as u32);
        let named = [self.eos, self.eot, self.eom].into_iter().flatten();
        let mut ends = Vec::new();
        for id in named.chain(by_text) {
            if !ends.contains(&id) {
                ends.push(id);
            }
        }
        Ok(ends)
    }

    /// The ids by their names in `tokenizer_config.json`.
    pub(super) fn named(&self) -> [(&'static str, Option<u32>); 7] {
        [
            ("bos_token", self.bos),
            ("eos_token", self.eos),
            ("unk_token", self.unknown),
            ("sep_token", self.separator),
            ("pad_token", self.padding),
            ("cls_token", self.cls),
            ("mask_token", self.mask),
        ]
    }
}

fn key_of(name: &str) -> String {
    format!("tokenizer.ggml.{name}_token_id")
}
