//! A smaller model that guesses.

use std::iter::zip;
use std::sync::Arc;

use super::{Draft, Text};
use crate::error::{RequestError, Result};
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
    /// By the rules of the request, with numbers of its own. [`Acceptance::Residual`](super::Acceptance)
    /// accepts the most of these.
    Independent,
    /// The most likely token.
    Greedy,
}

/// The stream of the numbers of independent draws.
const STREAM: u64 = 2;

/// A model with the same vocabulary that writes ahead, with a KV cache of its own in its own pool. It
/// reads the text when it is asked for the first time.
#[derive(Debug)]
pub struct DraftModel {
    model: Arc<Model>,
    draws: Draws,
    /// From the first proposal on.
    cache: Option<KvCache>,
    /// The tokens in the cache: of the text, and behind them its own that may have been rejected.
    read: Vec<u32>,
    /// Where the draws are independent: with the state of their generator.
    own: Option<Sampler>,
    /// Where the draws are independent: those of the last proposal.
    distributions: Vec<Vec<f32>>,
}

impl DraftModel {
    /// A draft for one text of `target`.
    ///
    /// # Errors
    /// Another vocabulary.
    pub fn new(model: Arc<Model>, target: &Model, draws: Draws) -> Result<Self> {
        Self::check(&model, target)?;
        Ok(Self {
            model,
            draws,
            cache: None,
            read: Vec::new(),
            own: None,
            distributions: Vec::new(),
        })
    }

    /// Checks that `model` can write ahead for `target`.
    ///
    /// # Errors
    /// Vocabularies of other sizes.
    pub fn check(model: &Model, target: &Model) -> Result<()> {
        let (draft, target) = (model.config().vocab_size, target.config().vocab_size);
        if draft != target {
            return Err(RequestError::DraftVocabulary { draft, target }.into());
        }
        Ok(())
    }

    /// Reads `tokens` behind those in the cache. Returns the rows of logits, `[vocab]` each.
    fn pass(&mut self, tokens: &[u32], logits: Logits) -> Result<Vec<Vec<f32>>> {
        let cache = match &mut self.cache {
            Some(cache) => cache,
            None => self.cache.insert(self.model.new_cache(usize::MAX)?),
        };
        let input = Input::after(cache, tokens).with_logits(logits);
        let rows = self.model.forward(&mut [input])?;
        self.read.extend(tokens);
        Ok(rows)
    }

    /// The logits after `tokens`, `[vocab]`, of which it reads those that are new.
    fn forward(&mut self, tokens: &[u32]) -> Result<Vec<f32>> {
        let new = &tokens[self.read.len()..];
        let (before, last) = new.split_at(new.len().saturating_sub(1) / CHUNK * CHUNK);
        for chunk in before.chunks(CHUNK) {
            self.pass(chunk, Logits::None)?;
        }
        Ok(self.pass(last, Logits::Last)?.concat())
    }

    /// How many tokens in the cache are those of the text. Not the last one of the text, which is read
    /// again if it must be, since its logits are wanted.
    fn known(&self, text: &Text<'_>) -> usize {
        let before = &text.tokens[..text.tokens.len() - 1];
        zip(&self.read, before).take_while(|(read, token)| read == token).count()
    }

    /// The cache follows the text: what was rejected leaves it.
    fn follow(&mut self, text: &Text<'_>) {
        let length = self.known(text);
        self.read.truncate(length);
        if let Some(cache) = &mut self.cache {
            cache.truncate(length);
            self.read.truncate(cache.length());
        }
    }

    /// The sampler of a proposal.
    fn sampler(&mut self, text: &Text<'_>) -> Result<Sampler> {
        match self.draws {
            Draws::Coupled => Ok(text.sampler.clone()),
            Draws::Independent => {
                Ok(self.own.take().unwrap_or_else(|| text.sampler.on_stream(STREAM)))
            }
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
        self.distributions.clear();
        let context_length = self.model.config().context_length;
        let most = most.min(context_length.saturating_sub(text.tokens.len()));
        if most == 0 {
            return Ok(Vec::new());
        }
        self.follow(text);
        let mut sampler = self.sampler(text)?;
        let mut tokens = text.tokens.to_vec();
        while tokens.len() < text.tokens.len() + most {
            let logits = self.forward(&tokens)?;
            let (prompt, output) = tokens.split_at(text.prompt);
            let distribution = sampler.distribution(&logits, prompt, output)?;
            tokens.push(sampler.draw(&distribution));
            if self.draws == Draws::Independent {
                self.distributions.push(distribution);
            }
        }
        if self.draws == Draws::Independent {
            self.own = Some(sampler);
        }
        Ok(tokens.split_off(text.tokens.len()))
    }
    // ANCHOR_END: propose

    fn unread(&self, text: &Text<'_>) -> usize {
        if text.tokens.len() >= self.model.config().context_length {
            // It proposes nothing there. What it would never have read took the budget of all others.
            return 0;
        }
        text.tokens.len() - 1 - self.known(text)
    }

    fn read(&mut self, text: &Text<'_>, most: usize) -> Result<()> {
        self.follow(text);
        let new = &text.tokens[self.read.len()..text.tokens.len() - 1];
        for chunk in new[..most.min(new.len())].chunks(CHUNK) {
            self.pass(chunk, Logits::None)?;
        }
        Ok(())
    }

    fn distributions(&self) -> &[Vec<f32>] {
        &self.distributions
    }
}
