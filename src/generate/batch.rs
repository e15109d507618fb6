//! The running batch: sequences generated together, one token each per step (continuous batching).

use std::ops::ControlFlow;

use super::sequence_state::SequenceState;
use super::{Generation, Options, TokenOutput};
use crate::error::{Error, Result};
use crate::kv::KvCache;
use crate::model::{Input, Logits, Model};
use crate::panics;
use crate::sampling::Sampler;

/// Sequences in progress. They may join or leave between any two steps, and do not affect each
/// other's tokens: each has its own KV cache, sampler, seed and limits. On the CPU, the logits of a
/// sequence have the same bits as when it runs alone.
pub struct Batch<'m> {
    model: &'m Model,
    sequences: Vec<Sequence>,
    next_id: u64,
}

/// Identifies a sequence of a [`Batch`]. An id is not reused after its sequence has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SequenceId(u64);

/// The outcome of a step for one sequence.
#[derive(Debug)]
pub enum Event {
    /// One more token, not yet decoded to text.
    Token(TokenOutput),
    /// The sequence is complete, and has left the batch.
    Finished(Generation),
    /// The sequence failed, and has left the batch.
    Failed(Error),
}

// ANCHOR: sequence
/// One sequence of the batch.
struct Sequence {
    id: SequenceId,
    state: SequenceState,
    cache: KvCache,
    /// The tokens that are not in the KV cache yet: the prompt at first, then the last token.
    unread: Vec<u32>,
    /// The most tokens of `unread` in one step (chunked prefill).
    chunk: usize,
    paused: bool,
    failure: Option<Error>,
}
// ANCHOR_END: sequence

impl<'m> Batch<'m> {
    /// A batch without sequences.
    pub fn new(model: &'m Model) -> Self {
        Self { model, sequences: Vec::new(), next_id: 0 }
    }

    /// Adds a sequence, which takes part from the next step on. Its KV cache has room for the
    /// prompt and all tokens up to the limit. Its memory is allocated on demand on the CPU, and
    /// here on other devices.
    ///
    /// # Errors
    /// A prompt that [`Model::check_prompt`] rejects, parameters out of range; on other devices
    /// than the CPU, a cache that does not fit into memory.
    pub fn join(&mut self, prompt: &[u32], options: &Options) -> Result<SequenceId> {
        self.join_with_sampler(prompt, options, Sampler::new(&options.sampling)?)
    }

    /// As [`join`](Self::join), but with `sampler`, which may hold custom rules, instead of
    /// `options.sampling`.
    ///
    /// # Errors
    /// A prompt that [`Model::check_prompt`] rejects; on other devices than the CPU, a cache that
    /// does not fit into memory.
    pub fn join_with_sampler(
        &mut self,
        prompt: &[u32],
        options: &Options,
        sampler: Sampler,
    ) -> Result<SequenceId> {
        let state = SequenceState::with_sampler(self.model, prompt, options, sampler)?;
        let cache = self.model.new_cache(prompt.len() + state.tokens_left())?;
        let id = SequenceId(self.next_id);
        self.next_id += 1;
        self.sequences.push(Sequence {
            id,
            state,
            cache,
            unread: prompt.to_vec(),
            chunk: options.chunk.max(1),
            paused: false,
            failure: None,
        });
        Ok(id)
    }

    /// Runs one forward pass: each sequence that is not paused generates one token, or prefills the
    /// next chunk of its prompt. Returns the new tokens in the order in which the sequences joined,
    /// then the sequences that have ended, which leave and free their caches.
    // ANCHOR: step
    pub fn step(&mut self) -> Vec<(SequenceId, Event)> {
        let mut events = Vec::new();
        let is_running =
            |sequence: &&mut Sequence| !sequence.paused && !sequence.state.is_finished();
        let mut running: Vec<_> = self.sequences.iter_mut().filter(is_running).collect();
        let rows = forward(self.model, &mut running);
        for (sequence, logits) in running.into_iter().zip(rows) {
            let token = match logits {
                Ok(Some(logits)) => sequence.next_token(&logits),
                Ok(None) => Ok(None), // prefill is not complete
                Err(error) => Err(error),
            };
            match token {
                Ok(token) => events.extend(token.map(|token| (sequence.id, token))),
                Err(error) => sequence.failure = Some(error),
            }
        }
        events.extend(self.sequences.extract_if(.., |s| s.has_ended()).map(Sequence::into_event));
        events
    }
    // ANCHOR_END: step

    /// Removes a sequence before its end, and returns its output so far. None where it is no longer
    /// in the batch.
    pub fn leave(&mut self, id: SequenceId) -> Option<Generation> {
        let index = self.position(id)?;
        let Sequence { state, cache, .. } = self.sequences.remove(index);
        Some(state.into_generation(cache.bytes()))
    }

    /// Pauses or resumes a sequence. A paused sequence keeps its KV cache.
    pub fn set_paused(&mut self, id: SequenceId, paused: bool) {
        if let Some(index) = self.position(id) {
            self.sequences[index].paused = paused;
        }
    }

    /// The number of sequences, including paused ones.
    pub fn len(&self) -> usize {
        self.sequences.len()
    }

    /// Whether the batch has no sequences.
    pub fn is_empty(&self) -> bool {
        self.sequences.is_empty()
    }

    /// The index of a sequence in the list, which is sorted by id.
    fn position(&self, id: SequenceId) -> Option<usize> {
        self.sequences.binary_search_by_key(&id, |sequence| sequence.id).ok()
    }

    /// The memory of all KV caches, in bytes.
    pub fn kv_cache_bytes(&self) -> usize {
        self.sequences.iter().map(|sequence| sequence.cache.bytes()).sum()
    }
}

impl Sequence {
    /// The next chunk of unread tokens.
    fn input(&mut self) -> Input<'_> {
        let chunk = &self.unread[..self.chunk.min(self.unread.len())];
        let logits = if chunk.len() < self.unread.len() {
            Logits::None
        } else {
            Logits::Last
        };
        Input::after(&mut self.cache, chunk).with_logits(logits)
    }

    /// Samples the next token from the logits, `[vocab]`. None where it ends the text.
    fn next_token(&mut self, logits: &[f32]) -> Result<Option<Event>> {
        let mut event = None;
        // The sampler may hold the caller's rules. A panic in one fails only this sequence.
        let token = panics::contain("a sampling rule", || {
            self.state.next_token(logits, &mut |chosen| {
                event = Some(Event::Token(chosen.token.clone()));
                ControlFlow::Continue(())
            })
        })??;
        self.unread = vec![token];
        Ok(event)
    }

    fn has_ended(&self) -> bool {
        self.failure.is_some() || self.state.is_finished()
    }

    fn into_event(self) -> (SequenceId, Event) {
        let event = match self.failure {
            Some(error) => Event::Failed(error),
            None => Event::Finished(self.state.into_generation(self.cache.bytes())),
        };
        (self.id, event)
    }
}

/// Runs the next chunk of each sequence, all in one forward pass. Returns for each sequence the
/// logits of the next token, `[vocab]`; none while its prefill is not complete.
///
/// A failed pass changes no KV cache, so the retry, one sequence at a time, appends each token
/// once.
fn forward(model: &Model, sequences: &mut [&mut Sequence]) -> Vec<Result<Option<Vec<f32>>>> {
    let all = match read(model, sequences) {
        Ok(rows) => return rows.into_iter().map(Ok).collect(),
        Err(_) if sequences.len() > 1 => sequences,
        Err(error) => return vec![Err(error)],
    };
    // Retried one by one, so that only the sequence at fault fails.
    let alone = |sequence| read(model, std::slice::from_mut(sequence));
    let first = |rows: Vec<_>| rows.into_iter().next().flatten();
    all.iter_mut().map(|sequence| alone(sequence).map(first)).collect()
}

fn read(model: &Model, sequences: &mut [&mut Sequence]) -> Result<Vec<Option<Vec<f32>>>> {
    let mut inputs: Vec<_> = sequences.iter_mut().map(|sequence| sequence.input()).collect();
    let mut rows = model.forward(&mut inputs)?.into_iter();
    drop(inputs);
    let rows = sequences.iter_mut().map(|sequence| {
        let chunk = sequence.chunk.min(sequence.unread.len());
        sequence.unread.drain(..chunk);
        sequence.unread.is_empty().then(|| rows.next()).flatten()
    });
    Ok(rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{self, DeviceChoice, Precision};
    use crate::generate::{Chosen, cached};
    use crate::pretrained::Pretrained;
    use crate::sampling::SamplingParams;

    /// The ids generated from `prompt` alone.
    fn alone(model: &Model, prompt: &[u32], options: &Options) -> Vec<u32> {
        let mut go_on = |_: &Chosen<'_>| ControlFlow::Continue(());
        cached(model, prompt, options, &mut go_on).unwrap().ids
    }

    #[test]
    fn after_a_pass_that_failed_every_token_is_read_once() {
        let device = device::open(DeviceChoice::Cpu).unwrap();
        let model = Pretrained::bundled(&device, Precision::F32).unwrap().model;
        let sampling = SamplingParams { temperature: 0.0, ..SamplingParams::default() };
        let options = Options {
            max_tokens: 6,
            sampling,
            ignore_eos: true,
            ..Options::default()
        };
        let prompts: [&[u32]; 3] = [&[0, 5, 6], &[0, 7], &[0, 8, 9, 10]];
        // During prefill, and in later steps.
        for fails_at in [0, 1, 4] {
            let mut batch = Batch::new(&model);
            let ids = prompts.map(|prompt| batch.join(prompt, &options).unwrap());
            let mut ends = Vec::new();
            for step in 0.. {
                if step == fails_at {
                    batch.sequences[1].unread = vec![u32::MAX]; // outside any vocabulary
                }
                let is_end = |event: &(_, Event)| !matches!(event.1, Event::Token(_));
                ends.extend(batch.step().into_iter().filter(is_end));
                for sequence in &batch.sequences {
                    let read = prompts[sequence.id.0 as usize].len() + step;
                    assert_eq!(sequence.cache.length(), read, "{fails_at}, {step}");
                }
                if batch.is_empty() {
                    break;
                }
            }
            let failed = ends.remove(0);
            assert_eq!(failed.0, ids[1]);
            assert!(matches!(failed.1, Event::Failed(Error::TokenOutOfRange { .. })));
            for ((id, event), index) in ends.into_iter().zip([0, 2]) {
                let Event::Finished(found) = event else {
                    panic!("{event:?}");
                };
                assert_eq!((id, found.ids), (ids[index], alone(&model, prompts[index], &options)));
            }
        }
    }
}
