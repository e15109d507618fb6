//! A model with its tokenizer, ready to use: bundled with the crate, from a folder or from GGUF files.

#[cfg(feature = "burn")]
mod load;
mod pooling;

use std::sync::Arc;

use crate::adapter::Adapters;
use crate::constrained::{Automaton, Cancel, Constraint, Vocabulary};
use crate::error::{RequestError, Result};
use crate::grammar::{Grammar, Grammars};
use crate::model::Model;
use crate::tokenizer::{ChatOptions, Message, TextOptions, Tokenizer, paragraphs};
pub use pooling::Pooling;

/// A loaded model with its tokenizer: where nearly every program begins.
///
/// [`bundled`](Self::bundled) is the model inside this crate, [`load`](Self::load) reads one of yours. Then
/// [`generate`](Self::generate) writes a text.
///
/// ```no_run
/// # #[cfg(feature = "burn")] {
/// use std::path::Path;
///
/// use slowburn::device::{self, DeviceChoice, Precision};
/// use slowburn::{Options, Pretrained};
///
/// let device = device::open(DeviceChoice::Auto)?;
/// let path = Path::new("a folder with config.json, or a file.gguf");
/// let model = Pretrained::load(path, &device, Precision::F32)?;
/// println!("{}", model.generate("The sky is", &Options::default())?);
/// # }
/// # Ok::<(), slowburn::Error>(())
/// ```
#[derive(Debug)]
pub struct Pretrained {
    /// The network.
    pub model: Model,
    /// Converts text to token ids and back.
    pub tokenizer: Tokenizer,
    /// Tensors in the files that the model doesn't use, except for those known to be harmless. Usually
    /// empty. If it isn't, look at the names: something that the model should compute may be missing.
    pub unused: Vec<String>,
    /// Whether quantized weights of a GGUF file were dequantized, which takes more memory. That happens where
    /// this crate's kernels don't run, because only they compute with quantized weights.
    pub dequantized: bool,
    /// What was wrong with the files but did no harm to the weights, a sentence each: special tokens that are
    /// not in the vocabulary, and were ignored; and which parts of a model that reads pictures or sound were
    /// skipped. They are worth showing.
    pub warnings: Vec<String>,
    /// How to pool a text's hidden states into one vector, if the files define it, as they do for models
    /// that were trained for embeddings.
    pub pooling: Option<Pooling>,
    /// The compiled grammars: see [`constraint`](Self::constraint).
    pub grammars: Grammars,
    /// The adapters that a request can name.
    pub adapters: Adapters,
}

impl Pretrained {
    // ANCHOR: prompt_ids
    /// The token ids of a prompt. An empty text becomes the begin-of-sequence token.
    ///
    /// # Errors
    /// An empty text if the model has no such token; a text that doesn't fit into the context.
    pub fn prompt_ids(&self, text: &str) -> Result<Vec<u32>> {
        self.tokenizer.check_length(text, self.model.config().context_length)?;
        let ids = self.tokenizer.encode(text)?;
        let bos = self.model.config().bos_token_id.or(self.tokenizer.bos_id());
        match (ids.is_empty(), bos) {
            (false, _) => Ok(ids),
            (true, Some(bos)) => Ok(vec![bos]),
            (true, None) => Err(RequestError::EmptyPrompt.into()),
        }
    }
    // ANCHOR_END: prompt_ids

    /// The token ids of a conversation, rendered by the chat template and ended as the options say.
    ///
    /// # Errors
    /// As [`Tokenizer::encode_chat`]; a conversation that doesn't fit into the context.
    pub fn chat_ids(&self, messages: &[Message], options: &ChatOptions) -> Result<Vec<u32>> {
        let chat = self.tokenizer.write_chat(messages, options)?;
        self.tokenizer.check_length(&chat.text, self.model.config().context_length)?;
        self.tokenizer.encode_written(&chat)
    }

    /// The token ids of a conversation with any model: rendered by its chat template or, if it has none, as
    /// [`paragraphs`], which heed only [`ChatOptions::parse_special`].
    ///
    /// # Errors
    /// As [`chat_ids`](Self::chat_ids) or [`prompt_ids`](Self::prompt_ids).
    pub fn conversation_ids(
        &self,
        messages: &[Message],
        options: &ChatOptions,
    ) -> Result<Vec<u32>> {
        if self.tokenizer.has_chat_template() {
            return self.chat_ids(messages, options);
        }
        let ChatOptions { parse_special, .. } = *options;
        let options = TextOptions { parse_special, ..TextOptions::default() };
        let ids = self.text_ids(&paragraphs(messages), options)?;
        if ids.is_empty() {
            self.prompt_ids("")
        } else {
            Ok(ids)
        }
    }

    /// The token ids of a text, as the options say. Unlike [`prompt_ids`](Self::prompt_ids), it gives you no
    /// tokens for an empty text, unless the options add special ones.
    ///
    /// # Errors
    /// A text that doesn't fit into the context.
    pub fn text_ids(&self, text: &str, options: TextOptions) -> Result<Vec<u32>> {
        self.tokenizer.check_length(text, self.model.config().context_length)?;
        self.tokenizer.encode_as(text, options)
    }

    /// Compiles a grammar for this model. The latest ones stay cached, with the masks computed so far.
    ///
    /// # Errors
    /// As [`Grammar::compile`].
    pub fn constraint(&self, grammar: &Grammar) -> Result<Constraint> {
        self.constraint_unless(grammar, &Cancel::default())
    }

    /// Like [`constraint`](Self::constraint), but gives up once `cancel` is cancelled.
    ///
    /// # Errors
    /// As [`Grammar::compile`], and when it gave up.
    pub fn constraint_unless(&self, grammar: &Grammar, cancel: &Cancel) -> Result<Constraint> {
        self.grammars.compile(grammar, || self.tokens(), cancel)
    }

    /// The vocabulary, as constraints see it.
    pub fn vocabulary(&self) -> Arc<Vocabulary> {
        self.grammars.vocabulary(|| self.tokens())
    }

    fn tokens(&self) -> Vocabulary {
        let config = self.model.config();
        let end_ids = config.eos_token_ids.clone();
        Vocabulary::new(config.vocab_size, |id| self.tokenizer.token_bytes(id), end_ids)
    }

    /// Token healing: removes the prompt's last token, and demands instead that the text begins with its
    /// bytes, so that a token may cross the border between the two. After these bytes `constraint`
    /// decides; without one, everything is allowed.
    ///
    /// Returns none, and leaves the prompt as it was, if the last token has no text or is the only one.
    ///
    /// # Errors
    /// A constraint that is read by a parser; as [`Constraint::new`].
    pub fn heal(
        &self,
        prompt: &mut Vec<u32>,
        constraint: Option<&Constraint>,
    ) -> Result<Option<Constraint>> {
        let vocabulary = self.vocabulary();
        let bytes = match prompt.as_slice() {
            [_, .., last] if !vocabulary.bytes(*last).is_empty() => vocabulary.bytes(*last),
            _ => return Ok(None),
        };
        let rest = match constraint.map(Constraint::automaton) {
            None => Automaton::anything(),
            Some(Some(automaton)) => automaton.clone(),
            Some(None) => return Err(RequestError::HealingByParser.into()),
        };
        let healed = Constraint::new(rest.behind(bytes), vocabulary.clone())?;
        prompt.pop();
        Ok(Some(healed))
    }
}
