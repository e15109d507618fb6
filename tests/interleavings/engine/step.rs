//! Carries out the plans of a scheduler on a model that computes nothing.

use super::{Chunk, EngineConfig, Entry, Event, Plan, Scheduler, SequenceId};
use crate::error::{Error, Result};
use crate::model::{BLOCK, Logits, Model};

/// A model, a scheduler, and no KV caches.
pub struct Engine<'m> {
    model: &'m Model,
    scheduler: Scheduler,
    next_id: u64,
    record: Option<Vec<Entry>>,
}

/// What a step did for one sequence.
#[derive(Debug)]
pub enum Outcome {
    Logits(Vec<f32>),
    PromptLogits {
        position: usize,
        rows: Vec<Vec<f32>>,
    },
    Failed(Error),
}

impl<'m> Engine<'m> {
    pub fn new(model: &'m Model, config: EngineConfig) -> Self {
        Self {
            model,
            scheduler: Scheduler::new(config, BLOCK, model.kv_pool().max_blocks()),
            next_id: 0,
            record: None,
        }
    }

    pub fn model(&self) -> &'m Model {
        self.model
    }

    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    pub fn arrive(
        &mut self,
        prompt: &[u32],
        max_tokens: usize,
        chunk: usize,
    ) -> Result<SequenceId> {
        self.add(prompt, max_tokens, chunk, false)
    }

    pub fn arrive_to_score(
        &mut self,
        prompt: &[u32],
        max_tokens: usize,
        chunk: usize,
    ) -> Result<SequenceId> {
        self.add(prompt, max_tokens, chunk, true)
    }

    fn add(
        &mut self,
        prompt: &[u32],
        max_tokens: usize,
        chunk: usize,
        prompt_logits: bool,
    ) -> Result<SequenceId> {
        let (id, prompt) = (SequenceId(self.next_id), prompt.to_vec());
        self.handle(Event::Arrive { id, prompt, max_tokens, chunk, prompt_logits })?;
        self.next_id += 1;
        Ok(id)
    }

    pub fn push(&mut self, id: SequenceId, token: u32) {
        let _ = self.handle(Event::Token { id, token });
    }

    pub fn set_paused(&mut self, id: SequenceId, paused: bool) {
        if self.scheduler.is_paused(id) != paused {
            let _ = self.handle(if paused {
                Event::Pause { id }
            } else {
                Event::Resume { id }
            });
        }
    }

    pub fn leave(&mut self, id: SequenceId) {
        let _ = self.handle(Event::Leave { id });
    }

    fn handle(&mut self, event: Event) -> Result<()> {
        let entry = Entry::Event { event: event.clone() };
        self.scheduler.handle(event)?;
        self.note(entry);
        Ok(())
    }

    pub fn keep_record(&mut self) {
        self.record = Some(Vec::new());
    }

    pub fn take_record(&mut self) -> Vec<Entry> {
        self.record.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn note(&mut self, entry: Entry) {
        if let Some(record) = &mut self.record {
            record.push(entry);
        }
    }

    pub fn kv_cache_bytes(&self, _: SequenceId) -> usize {
        0
    }

    pub fn step(&mut self) -> (Plan, Vec<(SequenceId, Outcome)>) {
        let plan = self.scheduler.plan();
        self.note(Entry::Step { decisions: plan.decisions.clone() });
        let outcomes = plan.chunks.iter().flat_map(|chunk| self.outcomes(chunk)).collect();
        self.scheduler.complete(&plan.chunks);
        (plan, outcomes)
    }

    fn outcomes(&self, chunk: &Chunk) -> Vec<(SequenceId, Outcome)> {
        let wanted = self.scheduler.to_score(chunk);
        let mut outcomes = Vec::new();
        if !wanted.is_empty() {
            let rows = wanted.clone().map(|_| self.model.logits()).collect();
            outcomes.push((chunk.id, Outcome::PromptLogits { position: wanted.start + 1, rows }));
        }
        let is_last = chunk.positions.end == self.scheduler.tokens(chunk.id).len();
        if is_last && chunk.logits != Logits::None {
            outcomes.push((chunk.id, Outcome::Logits(self.model.logits())));
        }
        outcomes
    }
}
