//! The running batch: sequences that are generated side by side, one token each a step.

use std::ops::ControlFlow;

use super::run::Run;
use super::{Generation, Options};
use crate::error::{Error, Result};
use crate::model::{KvCache, Model, NewTokens};
use crate::panics;
use crate::sampling::{Sampler, TokenLogprobs};

/// Sequences in progress. One may join or leave between any two steps, and none of them shows
/// in the tokens of another: each has its own KV cache, its own sampler with its own seed, and
/// its own limits.
pub struct Batch<'m> {
    model: &'m Model,
    sequences: Vec<Sequence>,
    next_id: u64,
}

/// Names a sequence of one [`Batch`]. No two of them have the same, even after one has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SequenceId(u64);

/// What a step did for a sequence.
#[derive(Debug)]
pub enum Event {
    /// It has one more token.
    Token {
        /// Its place among the generated tokens, from 0.
        index: usize,
        /// Its id.
        id: u32,
        /// Its log-probability, where [`Options::logprobs`] asked for it.
        logprobs: Option<TokenLogprobs>,
    },
    /// It has all its tokens, and has left the batch.
    Finished(Generation),
    /// It could not go on, and has left the batch.
    Failed(Error),
}

// ANCHOR: sequence
/// One sequence of the batch.
struct Sequence {
    id: SequenceId,
    run: Run,
    cache: KvCache,
    /// What the model has not read yet: the prompt at first, then the last token.
    new: Vec<u32>,
    paused: bool,
    failure: Option<Error>,
}
// ANCHOR_END: sequence

impl<'m> Batch<'m> {
    /// A batch without sequences.
    pub fn new(model: &'m Model) -> Self {
        Self { model, sequences: Vec::new(), next_id: 0 }
    }

    /// Adds a sequence, which takes part from the next step on. Its cache is taken here, for
    /// the prompt and all tokens that may come.
    ///
    /// # Errors
    /// A prompt that the model cannot start from, parameters out of range, a cache that is too
    /// large for this machine.
    pub fn join(&mut self, prompt: &[u32], options: &Options) -> Result<SequenceId> {
        self.join_with_sampler(prompt, options, Sampler::new(&options.sampling)?)
    }

    /// As [`join`](Self::join), but `sampler`, with the rules of the caller's that it may hold,
    /// takes the place of `options.sampling`.
    ///
    /// # Errors
    /// A prompt that the model cannot start from, a cache that is too large for this machine.
    pub fn join_with_sampler(
        &mut self,
        prompt: &[u32],
        options: &Options,
        sampler: Sampler,
    ) -> Result<SequenceId> {
        let run = Run::with_sampler(self.model, prompt, options, sampler)?;
        let cache = self.model.new_cache(prompt.len() + run.room())?;
        let id = SequenceId(self.next_id);
        self.next_id += 1;
        self.sequences.push(Sequence {
            id,
            run,
            cache,
            new: prompt.to_vec(),
            paused: false,
            failure: None,
        });
        Ok(id)
    }

    /// Gives each sequence that is not paused one more token, and reports what came of it:
    /// tokens in the order in which the sequences joined, then those that have ended. These
    /// leave, and their caches with them.
    // ANCHOR: step
    pub fn step(&mut self) -> Vec<(SequenceId, Event)> {
        let mut events = Vec::new();
        let is_running = |sequence: &&mut Sequence| !sequence.paused && !sequence.run.is_finished();
        let mut running: Vec<_> = self.sequences.iter_mut().filter(is_running).collect();
        let rows = forward(self.model, &mut running);
        for (sequence, logits) in running.into_iter().zip(rows) {
            let token = logits.and_then(|logits| sequence.next_token(&logits));
            match token {
                Ok(token) => events.extend(token.map(|token| (sequence.id, token))),
                Err(error) => sequence.failure = Some(error),
            }
        }
        events.extend(self.sequences.extract_if(.., |s| s.has_ended()).map(Sequence::into_event));
        events
    }
    // ANCHOR_END: step

    /// Takes a sequence out before its end, and returns what it has so far. None where it is
    /// no longer in the batch.
    pub fn leave(&mut self, id: SequenceId) -> Option<Generation> {
        let place = self.sequences.iter().position(|sequence| sequence.id == id)?;
        let Sequence { run, cache, .. } = self.sequences.remove(place);
        Some(run.into_generation(cache.bytes()))
    }

    /// Lets a sequence sit out the steps to come, or take part again. It keeps its cache.
    pub fn set_paused(&mut self, id: SequenceId, paused: bool) {
        if let Some(sequence) = self.sequences.iter_mut().find(|sequence| sequence.id == id) {
            sequence.paused = paused;
        }
    }

    /// How many sequences are in it, paused ones included.
    pub fn len(&self) -> usize {
        self.sequences.len()
    }

    /// Whether no sequence is in it.
    pub fn is_empty(&self) -> bool {
        self.sequences.is_empty()
    }

    /// The memory that all caches take.
    pub fn kv_cache_bytes(&self) -> usize {
        self.sequences.iter().map(|sequence| sequence.cache.bytes()).sum()
    }
}

impl Sequence {
    /// Chooses the token that follows, from the logits `[vocab]`. None where that ended the
    /// text.
    fn next_token(&mut self, logits: &[f32]) -> Result<Option<Event>> {
        let mut event = None;
        // The sampler may hold rules of the caller's. One that panics ends its own sequence.
        let token = panics::contain("a sampling rule", || {
            self.run.next_token(logits, &mut |token| {
                let (index, id, logprobs) = (token.index, token.id, token.logprobs.cloned());
                event = Some(Event::Token { index, id, logprobs });
                ControlFlow::Continue(())
            })
        })??;
        self.new = vec![token];
        Ok(event)
    }

    fn has_ended(&self) -> bool {
        self.failure.is_some() || self.run.is_finished()
    }

    fn into_event(self) -> (SequenceId, Event) {
        let event = match self.failure {
            Some(error) => Event::Failed(error),
            None => Event::Finished(self.run.into_generation(self.cache.bytes())),
        };
        (self.id, event)
    }
}

/// Reads what is new in each sequence, all in one forward pass, and returns the logits of the
/// token that follows in each: one row of `[vocab]` for each of `sequences`.
fn forward(model: &Model, sequences: &mut [&mut Sequence]) -> Vec<Result<Vec<f32>>> {
    let new = |sequence| {
        let Sequence { new, cache, .. }: &mut Sequence = sequence;
        NewTokens { ids: new, cache }
    };
    match model.forward_batch(sequences.iter_mut().map(|sequence| new(sequence)).collect()) {
        Ok(rows) => rows.into_iter().map(Ok).collect(),
        // Whose fault it was is found out one by one: the others are to go on.
        Err(_) => sequences.iter_mut().map(|s| model.forward(&s.new, Some(&mut s.cache))).collect(),
    }
}
