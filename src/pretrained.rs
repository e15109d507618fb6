//! A model and its tokenizer, from the crate itself, from a folder or from GGUF files.

#[cfg(feature = "burn")]
mod load;
mod pooling;

use std::sync::Arc;

use crate::constrained::{Automaton, Cancel, Constraint, Vocabulary};
use crate::error::{RequestError, Result};
use crate::grammar::{Grammar, Grammars};
use crate::model::Model;
use crate::tokenizer::{ChatOptions, Message, TextOptions, Tokenizer, paragraphs};
pub use pooling::Pooling;

/// A loaded model.
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
    /// The tensors of the files that the model does not use and that are not known to be harmless.
    /// Usually empty.
    pub unused: Vec<String>,
    /// Whether quantized weights of a GGUF file were dequantized, which takes more memory: only the
    /// kernels of this crate compute with quantized ones.
    pub dequantized: bool,
    /// What was wrong with the files and did no harm to the weights, in a sentence each: special tokens
    /// that the vocabulary does not have, and that there are not; and which parts of a model that reads
    /// pictures or sound were skipped.
    pub warnings: Vec<String>,
    /// How a text becomes one vector, where the files say it: those of models that were trained for
    /// embeddings do.
    pub pooling: Option<Pooling>,
    /// The grammars that were compiled: see [`constraint`](Self::constraint).
    pub grammars: Grammars,
}

impl Pretrained {
    // ANCHOR: prompt_ids
    /// The token ids of a prompt. An empty text becomes the begin-of-sequence token.
    ///
    /// # Errors
    /// An empty text where the model has no such token; a text that no context of this model can hold.
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

    /// The token ids of a conversation, up to where the options say.
    ///
    /// # Errors
    /// Those of [`Tokenizer::encode_chat`]; a template that writes more than any context of this model
    /// can hold.
    pub fn chat_ids(&self, messages: &[Message], options: &ChatOptions) -> Result<Vec<u32>> {
        let chat = self.tokenizer.write_chat(messages, options)?;
        self.tokenizer.check_length(&chat.text, self.model.config().context_length)?;
        self.tokenizer.encode_written(&chat)
    }

    /// The token ids of a conversation with any model: by its chat template, or where it has none, of the
    /// messages' [`paragraphs`], for which only [`ChatOptions::parse_special`] is heeded.
    ///
    /// # Errors
    /// Those of [`chat_ids`](Self::chat_ids), or of [`prompt_ids`](Self::prompt_ids).
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

    /// The token ids of a text, as the options say: none for an empty one, if no special tokens are added.
    ///
    /// # Errors
    /// A text that no context of this model can hold.
    pub fn text_ids(&self, text: &str, options: TextOptions) -> Result<Vec<u32>> {
        self.tokenizer.check_length(text, self.model.config().context_length)?;
        self.tokenizer.encode_as(text, options)
    }

    /// Compiles a grammar for this model. The latest are kept, with the masks that were computed.
    ///
    /// # Errors
    /// As [`Grammar::compile`].
    pub fn constraint(&self, grammar: &Grammar) -> Result<Constraint> {
        self.constraint_unless(grammar, &Cancel::default())
    }

    /// As [`constraint`](Self::constraint), and gives up once `cancel` is cancelled.
    ///
    /// # Errors
    /// As [`Grammar::compile`]; work that was given up.
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

    // ANCHOR: heal
    /// Token healing: takes the last token of a prompt away, and demands that the text begins with its
    /// bytes instead, so that a token may cross the border between the two. Behind these bytes,
    /// `constraint` decides. Without it, everything is allowed.
    ///
    /// None, and the prompt is as it was, where its last token has no text or there is no other.
    ///
    /// # Errors
    /// A constraint that is read by a parser; those of [`Constraint::new`].
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
    // ANCHOR_END: heal
}
