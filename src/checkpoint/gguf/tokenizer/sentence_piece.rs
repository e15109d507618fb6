//! SentencePiece's BPE, as in Llama 2: characters, with bytes for those that the vocabulary lacks.

use serde_json::{Value, json};

use super::merges::merges_by_score;
use super::{Kind, TokenType, Vocabulary, byte_level};
use crate::error::Result;

const SCORES: &str = "tokenizer.ggml.scores";
const PREFIX: &str = "tokenizer.ggml.add_space_prefix";

/// Stands for a space.
const SPACE: &str = "▁";

/// The parts of `tokenizer.json` that turn a text into tokens and back.
pub(super) fn parts(vocabulary: &Vocabulary<'_>) -> Result<Value> {
    let metadata = vocabulary.metadata;
    let adds_space = metadata.flag(PREFIX)?.unwrap_or(true);
    let unknown = vocabulary.ids.unknown.map(|id| &vocabulary.tokens[id as usize]);
    let mut normalizers = vec![replace(" ", SPACE)];
    let mut decoders = vec![
        replace(SPACE, " "),
        json!({"type": "ByteFallback"}),
        json!({"type": "Fuse"}),
    ];
    if adds_space {
        normalizers.insert(0, json!({"type": "Prepend", "prepend": SPACE}));
        decoders.push(json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}));
    }
    Ok(json!({
        "normalizer": {"type": "Sequence", "normalizers": normalizers},
        "pre_tokenizer": null,
        "decoder": {"type": "Sequence", "decoders": decoders},
        "model": {
            "type": "BPE",
            "dropout": null,
            "unk_token": unknown,
            "continuing_subword_prefix": null,
            "end_of_word_suffix": null,
            "fuse_unk": true,
            "byte_fallback": true,
            "ignore_merges": false,
            "vocab": vocabulary.ids_of_tokens(),
            "merges": match vocabulary.kind {
                Kind::Gemma4 => byte_level::merges(vocabulary)?,
                _ => merges(vocabulary)?,
            },
        },
    }))
}

fn merges(vocabulary: &Vocabulary<'_>) -> Result<Value> {
    let metadata = vocabulary.metadata;
    let count = vocabulary.tokens.len();
    let expected = || format!("an array of {count} floats, one for each token");
    let scores = metadata.floats(SCORES)?.filter(|scores| scores.len() == count);
    let scores = scores.ok_or_else(|| metadata.wrong(SCORES, expected()))?;
    let all = vocabulary.tokens.iter().zip(scores).zip(&vocabulary.types);
    let pieces = all.filter(|(_, kind)| **kind == TokenType::Normal);
    let pieces = pieces.map(|((token, score), _)| (token.as_str(), *score));
    let merges =
        merges_by_score(pieces).map_err(|problem| metadata.wrong(super::TOKENS, problem))?;
    Ok(merges.into_iter().map(|(left, right)| json!([left, right])).collect())
}

fn replace(from: &str, to: &str) -> Value {
    json!({"type": "Replace", "pattern": {"String": from}, "content": to})
}
