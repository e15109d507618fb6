//! Trains a byte-level BPE on the stories.

use std::path::Path;

use anyhow::{Result, anyhow};
use rayon::prelude::*;
use serde_json::json;
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

use crate::corpus::talk::Dialogue;

/// Begins every sequence.
const BEGIN: &str = "<|begin|>";
/// Ends every story.
const END: &str = "<|end|>";
pub const BEGIN_ID: u32 = 0;
pub const END_ID: u32 = 1;
/// Before who answers, before a question, and before an answer.
const ROLES: [&str; 3] = ["<|system|>", "<|user|>", "<|assistant|>"];
pub const SYSTEM_ID: u32 = 2;
pub const USER_ID: u32 = 3;
pub const ASSISTANT_ID: u32 = 4;

/// The number of stories to learn the merges from: more would not change them.
const SAMPLE: usize = 20_000;

/// Learns `vocab_size` tokens: the special tokens, the 256 bytes, and the most frequent merges. For
/// conversations, there are special tokens that say who speaks.
pub fn train(stories: &[String], vocab_size: usize, talks: bool) -> Result<Tokenizer> {
    let roles = ROLES.iter().filter(|_| talks);
    let special = [BEGIN, END].iter().chain(roles);
    let special: Vec<_> = special.map(|token| AddedToken::from(*token, true)).collect();
    let mut trainer: TrainerWrapper = BpeTrainerBuilder::new()
        .vocab_size(vocab_size)
        .show_progress(false)
        .special_tokens(special)
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

/// Encodes each conversation, with an end token after each answer.
pub fn encode_talk(tokenizer: &Tokenizer, dialogues: &[Dialogue]) -> Result<Vec<Vec<u32>>> {
    let encode = |dialogue: &Dialogue| -> Result<Vec<u32>> {
        let mut ids = vec![BEGIN_ID];
        for (role, text) in dialogue.messages() {
            let text = tokenizer.encode(text, false).map_err(|error| anyhow!("{error}"))?;
            let role = match role {
                "system" => SYSTEM_ID,
                "user" => USER_ID,
                _ => ASSISTANT_ID,
            };
            ids.push(role);
            ids.extend(text.get_ids());
            ids.extend((role == ASSISTANT_ID).then_some(END_ID));
        }
        Ok(ids)
    };
    dialogues.par_iter().map(encode).collect()
}

/// How a conversation is written.
const CHAT_TEMPLATE: &str = "{{ bos_token }}\
    {%- for message in messages -%}\
    {%- if message.role == 'system' -%}<|system|>{{ message.content | trim }}\
    {%- elif message.role == 'user' -%}<|user|>{{ message.content | trim }}\
    {%- elif message.role == 'assistant' -%}<|assistant|>{{ message.content | trim }}<|end|>\
    {%- endif -%}\
    {%- endfor -%}\
    {%- if add_generation_prompt -%}<|assistant|>{%- endif -%}";

/// `tokenizer_config.json` of a model that talks.
pub fn chat_config() -> String {
    let value = json!({
        "bos_token": BEGIN,
        "eos_token": END,
        "chat_template": CHAT_TEMPLATE,
    });
    format!("{value:#}\n")
}

pub fn save(tokenizer: &Tokenizer, path: &Path) -> Result<()> {
    tokenizer.save(path, false).map_err(|error| anyhow!("{error}"))
}
