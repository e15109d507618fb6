//! A working tokenizer of any vocabulary size: a byte-level BPE whose merges join two bytes.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Result, anyhow, ensure};
use tokenizers::models::bpe::{BPE, Merges, Vocab};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::{AddedToken, Tokenizer};

use super::shape::Shape;

/// Writes `tokenizer.json`.
pub fn write(shape: Shape, path: &Path) -> Result<()> {
    let special = shape.special_tokens();
    let (vocab, merges) = vocabulary(shape.vocab_size(), special)?;
    let bpe = BPE::builder()
        .vocab_and_merges(vocab, merges)
        .build()
        .map_err(|error| anyhow!("{error}"))?;
    let bytes = ByteLevel::default().add_prefix_space(false);
    let mut tokenizer = Tokenizer::new(bpe);
    tokenizer.with_pre_tokenizer(Some(bytes)).with_decoder(Some(bytes));
    let added: Vec<AddedToken> =
        special.iter().map(|(text, _)| AddedToken::from(*text, true)).collect();
    tokenizer.add_special_tokens(added).map_err(|error| anyhow!("{error}"))?;
    ensure!(tokenizer.get_vocab_size(true) == shape.vocab_size(), "the vocabulary has gaps");
    tokenizer.save(path, false).map_err(|error| anyhow!("{error}"))
}

/// The special tokens at their ids; the other ids are all bytes, and then pairs of bytes until the
/// vocabulary is full.
fn vocabulary(size: usize, special: &[(&str, u32)]) -> Result<(Vocab, Merges)> {
    let mut bytes: Vec<String> = ByteLevel::alphabet().into_iter().map(String::from).collect();
    bytes.sort_unstable();
    let taken: HashSet<u32> = special.iter().map(|(_, id)| *id).collect();
    let mut free = (0..size as u32).filter(|id| !taken.contains(id));

    let mut vocab: Vocab = special.iter().map(|(text, id)| ((*text).to_owned(), *id)).collect();
    vocab.extend(bytes.iter().cloned().zip(&mut free));
    ensure!(
        vocab.len() == special.len() + bytes.len(),
        "{size} ids are too few for all bytes"
    );
    let mut merges = Merges::new();
    let pairs = bytes.iter().flat_map(|first| bytes.iter().map(move |second| (first, second)));
    for ((first, second), id) in pairs.zip(free) {
        vocab.insert(format!("{first}{second}"), id);
        merges.push((first.clone(), second.clone()));
    }
    ensure!(vocab.len() == size, "{size} ids are more than there are pairs of bytes");
    Ok((vocab, merges))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_text_comes_back_and_every_id_is_in_the_vocabulary() {
        for shape in Shape::value_variants() {
            let file = std::env::temp_dir().join(format!("tokenizer-{shape:?}.json"));
            write(*shape, &file).unwrap();
            let tokenizer = Tokenizer::from_file(&file).unwrap();
            std::fs::remove_file(&file).unwrap();
            for (text, id) in shape.special_tokens() {
                assert_eq!(tokenizer.token_to_id(text), Some(*id));
            }
            let largest = tokenizer.get_vocab(true).into_values().max().unwrap();
            assert_eq!(largest as usize + 1, shape.vocab_size());
            for text in ["Once upon a time", "日本語 🙂", "a\tb\n\u{0}"] {
                let ids = tokenizer.encode(text, true).unwrap();
                assert_eq!(tokenizer.decode(ids.get_ids(), true).unwrap(), text);
            }
        }
    }
}
