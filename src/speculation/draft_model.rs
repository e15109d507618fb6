//! A smaller model that guesses.

use std::iter::zip;
use std::sync::Arc;

use super::{Draft, Text};
use crate::error::{Error, Result};
use crate::kv::KvCache;
use crate::model::{Input, Logits, Model};
use crate::sampling::{Sampler, SamplingParams};

/// The most tokens of a text that a draft model reads in one pass.
const CHUNK: usize = 256;

/// How a draft model chooses its tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Draws {
    /// By the rules of the request, with the numbers that its sampler will draw for the same
    /// positions: where the two distributions are alike, so are the tokens.
    #[default]
    Coupled,
    /// The most likely token.
    Greedy,
}

/// A model with the same vocabulary that writes ahead, with a KV cache of its own.
#[derive(Debug)]
pub struct DraftModel {
    model: Arc<Model>,
    draws: Draws,
    cache: KvCache,
    /// The tokens in the cache: of the text, and behind them its own that may have been rejected.
    read: Vec<u32>,
}

impl DraftModel {
    /// A draft for one text of `target`.
    ///
    /// # Errors
    /// Another vocabulary; too little memory for the KV cache.
    pub fn new(model: Arc<Model>, target: &Model, draws: Draws) -> Result<Self> {
        Self::check(&model, target)?;
        let cache = model.new_cache(model.config().context_length)?;
        Ok(Self { model, draws, cache, read: Vec::new() })
    }

    /// Checks that `model` can write ahead for `target`.
    ///
    /// # Errors
    /// Vocabularies of other sizes.
    pub fn check(model: &Model, target: &Model) -> Result<()> {
        let (draft, target) = (model.config().vocab_size, target.config().vocab_size);
        if draft != target {
            return Err(Error::DraftVocabulary { draft, target });
        }
        Ok(())
    }

    /// The logits after `new` tokens, `[vocab]`.
    fn forward(&mut self, new: &[u32]) -> Result<Vec<f32>> {
        let (before, last) = new.split_at(new.len().saturating_sub(1) / CHUNK * CHUNK);
        for chunk in before.chunks(CHUNK) {
            let input = Input::after(&mut self.cache, chunk).with_logits(Logits::None);
            self.model.forward(&mut [input])?;
            self.read.extend(chunk);
        }
        let rows = self.model.forward(&mut [Input::after(&mut self.cache, last)])?;
        self.read.extend(last);
        Ok(rows.concat())
    }

    fn sampler(&self, text: &Text<'_>) -> Result<Sampler> {
        match self.draws {
            Draws::Coupled => Ok(text.sampler.clone()),
            Draws::Greedy => {
                let params = text.sampler.params().clone();
                Sampler::new(&SamplingParams { temperature: 0.0, ..params })
            }
        }
    }
}

impl Draft for DraftModel {
    // ANCHOR: propose
    fn propose(&mut self, text: &Text<'_>, most: usize) -> Result<Vec<u32>> {
        let most = most.min(self.cache.capacity().saturating_sub(text.tokens.len()));
        if most == 0 {
            return Ok(Vec::new());
        }
        // The cache follows the text: what was rejected leaves it. The last token is read again if it
        // must be, since its logits are wanted.
        let equal = zip(&self.read, text.tokens).take_while(|(read, token)| read == token).count();
        let kept = equal.min(text.tokens.len() - 1);
        self.cache.truncate(kept);
        self.read.truncate(kept);

        let mut sampler = self.sampler(text)?;
        let mut tokens = text.tokens.to_vec();
        while tokens.len() < text.tokens.len() + most {
            let logits = self.forward(&tokens[self.read.len()..])?;
            let (prompt, output) = tokens.split_at(text.prompt);
            let token = sampler.sample(&logits, prompt, output)?;
            tokens.push(token);
        }
        Ok(tokens.split_off(text.tokens.len()))
    }
    // ANCHOR_END: propose
}
