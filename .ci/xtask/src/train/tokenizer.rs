//! Trains a byte-level BPE on the stories.

use std::path::Path;

use anyhow::{Result, anyhow};
use tokenizers::models::{
    TrainerWrapper,
    bpe::{BPE, BpeTrainerBuilder},
};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::processors::template::TemplateProcessing;
use tokenizers::{
    AddedToken, DecoderWrapper, ModelWrapper, NormalizerWrapper, PostProcessorWrapper,
    PreTokenizerWrapper, Tokenizer, TokenizerBuilder,
};

/// Begins every sequence.
const BEGIN: &str = "<|begin|>";
/// Ends every story.
const END: &str = "<|end|>";
pub const BEGIN_ID: u32 = 0;
pub const END_ID: u32 = 1;

/// The number of stories to learn the merges from: more would not change them.
const SAMPLE: usize = 20_000;

/// Learns `vocab_size` tokens: the two special tokens, the 256 bytes, and the most frequent merges.
pub fn train(stories: &[String], vocab_size: usize) -> Result<Tokenizer> {
    let special = [BEGIN, END].map(|token| AddedToken::from(token, true));
    let mut trainer: TrainerWrapper = BpeTrainerBuilder::new()
        .vocab_size(vocab_size)
        .show_progress(false)
        .special_tokens(special.to_vec())
        .initial_alphabet(ByteLevel::alphabet().into_iter().collect())
        .build()
        .into();
    let bytes = ByteLevel::default().add_prefix_space(false);
    let begins = TemplateProcessing::builder()
        .try_single(format!("{BEGIN} $A"))
        .map_err(|error| anyhow!("{error}"))?
        .special_tokens(vec![(BEGIN, BEGIN_ID)])
        .build()?;
    let mut tokenizer = TokenizerBuilder::<_, NormalizerWrapper, _, _, _>::new()
        .with_model(ModelWrapper::from(BPE::default()))
        .with_normalizer(None)
        .with_pre_tokenizer(Some(PreTokenizerWrapper::from(bytes)))
        .with_post_processor(Some(PostProcessorWrapper::from(begins)))
        .with_decoder(Some(DecoderWrapper::from(bytes)))
        .build()
        .map_err(|error| anyhow!("{error}"))?;
    let sample = stories.iter().take(SAMPLE);
    tokenizer.train(&mut trainer, sample).map_err(|error| anyhow!("{error}"))?;
    Ok(Tokenizer::from(tokenizer))
}

/// Encodes each story between the begin and the end token.
pub fn encode(tokenizer: &Tokenizer, stories: &[String]) -> Result<Vec<Vec<u32>>> {
    let texts: Vec<&str> = stories.iter().map(String::as_str).collect();
    let encoded = tokenizer.encode_batch(texts, true).map_err(|error| anyhow!("{error}"))?;
    let with_end = |ids: &[u32]| ids.iter().copied().chain([END_ID]).collect();
    Ok(encoded.iter().map(|one| with_end(one.get_ids())).collect())
}

pub fn save(tokenizer: &Tokenizer, path: &Path) -> Result<()> {
    tokenizer.save(path, false).map_err(|error| anyhow!("{error}"))
}
