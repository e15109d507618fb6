//! Byte-level BPE, as in GPT-2.

use serde_json::{Value, json};

use super::{Vocabulary, pre_tokenizer};
use crate::error::Result;

const MERGES: &str = "tokenizer.ggml.merges";

/// The parts of `tokenizer.json` that turn a text into tokens and back.
pub(super) fn parts(vocabulary: &Vocabulary<'_>) -> Result<Value> {
    let pre_tokenizer = pre_tokenizer::PreTokenizer::read(vocabulary.metadata)?;
    Ok(json!({
        "normalizer": pre_tokenizer.normalizer(),
        "pre_tokenizer": pre_tokenizer.json(),
        "decoder": {
            "type": "ByteLevel",
            "add_prefix_space": false,
            "trim_offsets": true,
            "use_regex": true,
        },
        "model": {
            "type": "BPE",
            "dropout": null,
            "unk_token": null,
            "continuing_subword_prefix": null,
            "end_of_word_suffix": null,
            "fuse_unk": false,
            "byte_fallback": false,
            "ignore_merges": pre_tokenizer.ignores_merges,
            "vocab": vocabulary.ids_of_tokens(),
            "merges": merges(vocabulary)?,
        },
    }))
}

/// The pairs of tokens that are merged, the first ones first.
pub(super) fn merges(vocabulary: &Vocabulary<'_>) -> Result<Value> {
    let metadata = vocabulary.metadata;
    let merges = metadata.texts(MERGES)?;
    let merges = merges.ok_or_else(|| metadata.wrong(MERGES, "an array of texts"))?;
    let pair = |merge: &String| {
        let (left, right) = merge.split_once(' ')?;
        Some(json!([left, right]))
    };
    let pairs: Option<Value> = merges.iter().map(pair).collect();
    pairs.ok_or_else(|| metadata.wrong(MERGES, "pairs of tokens with a space between them"))
}
