//! The engine: carries out the plans of a scheduler on a model.

use std::collections::HashMap;

use super::plan::Memory;
use super::{Chunk, EngineConfig, Entry, Event, Plan, Scheduler, SequenceId};
use crate::error::{Error, Result};
use crate::kernels::{self, BLOCK};
use crate::kv::{BlockId, KvCache, SharedBlock};
use crate::model::{Input, Logits, Model};
use crate::panics;

/// A model, a scheduler, and the KV caches of its sequences.
///
/// The tokens and logits of a sequence do not depend on what else runs, on how its prompt is split,
/// on blocks that it shares or on preemption: on the CPU the logits have the same bits.
pub struct Engine<'m> {
    model: &'m Model,
    scheduler: Scheduler,
    caches: HashMap<SequenceId, KvCache>,
    /// The memory of the blocks that the prefix cache can find.
    shared: HashMap<BlockId, SharedBlock>,
    /// The sequences of a pass that panicked, and the position that each had reached after it: up to
    /// there each runs alone, to find the one at fault.
    suspects: HashMap<SequenceId, usize>,
    next_id: u64,
    /// What has happened, where somebody wants to know.
    record: Option<Vec<Entry>>,
    /// A token that makes the device panic.
    #[cfg(test)]
    poison: Option<u32>,
}

/// What a step did for one sequence.
#[derive(Debug)]
pub enum Outcome {
    /// The logits of the next token, `[vocab]`.
    Logits(Vec<f32>),
    /// Logits of prompt tokens, `[vocab]` each: the first row is the distribution of the token at
    /// `position`, and so on. They come in order, each once, for all tokens of the prompt but the
    /// first, whatever was computed again.
    PromptLogits {
        position: usize,
        rows: Vec<Vec<f32>>,
    },
    /// The sequence failed, and has left.
    Failed(Error),
}

/// The end of a forward pass.
enum Pass {
    Done(Vec<(SequenceId, Outcome)>),
    /// Nothing has changed.
    Failed(Error),
    /// It panicked, and all keys and values are lost.
    Lost(Error),
}

impl<'m> Engine<'m> {
    /// An engine without sequences, whose KV caches come from the model's pool.
    pub fn new(model: &'m Model, config: EngineConfig) -> Self {
        let max_blocks = model.kv_pool().max_blocks();
        let scheduler = if kernels::serve(model.device()) {
            Scheduler::new(config, BLOCK, max_blocks)
        } else {
            Scheduler::contiguous(config, BLOCK, max_blocks)
        };
        Self {
            model,
            scheduler,
            caches: HashMap::new(),
            shared: HashMap::new(),
            suspects: HashMap::new(),
            next_id: 0,
            record: None,
            #[cfg(test)]
            poison: None,
        }
    }

    /// The model.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// The scheduler, to look at.
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// Adds a sequence, which waits to be admitted. In a step it reads at most `chunk` tokens of
    /// its prompt.
    ///
    /// # Errors
    /// A prompt that [`Model::check_prompt`] rejects; a sequence that the pool cannot hold.
    pub fn arrive(
        &mut self,
        prompt: &[u32],
        max_tokens: usize,
        chunk: usize,
    ) -> Result<SequenceId> {
        self.add(prompt, max_tokens, chunk, false)
    }

    /// As [`arrive`](Self::arrive), and asks for the logits of all prompt tokens: see
    /// [`Outcome::PromptLogits`]. The logits of a chunk take `[chunk, vocab]` numbers.
    ///
    /// # Errors
    /// As [`arrive`](Self::arrive).
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
        Ok(id)
    }

    /// Appends the token that was sampled from the logits of the last step.
    pub fn push(&mut self, id: SequenceId, token: u32) {
        self.tell(Event::Token { id, token });
    }

    /// Pauses or resumes a sequence. The blocks of a paused one are taken when others need them,
    /// and computed again when it goes on.
    pub fn set_paused(&mut self, id: SequenceId, paused: bool) {
        if self.scheduler.is_paused(id) != paused {
            self.tell(if paused {
                Event::Pause { id }
            } else {
                Event::Resume { id }
            });
        }
    }

    /// Removes a sequence and gives back its blocks.
    pub fn leave(&mut self, id: SequenceId) {
        self.tell(Event::Leave { id });
    }

    fn forget(&mut self, id: SequenceId) {
        self.caches.remove(&id);
        self.suspects.remove(&id);
    }

    fn tell(&mut self, event: Event) {
        // Only an arrival can be refused.
        let _ = self.handle(event);
    }

    /// Takes note of any event, of a recorded run for example.
    ///
    /// # Errors
    /// As [`arrive`](Self::arrive).
    pub fn handle(&mut self, event: Event) -> Result<()> {
        if let Event::Arrive { prompt, .. } = &event {
            self.model.check_prompt(prompt)?;
        }
        let entry = self.record.is_some().then(|| Entry::Event { event: event.clone() });
        let id = event.id();
        if matches!(event, Event::Leave { .. }) {
            self.forget(id);
        }
        self.scheduler.handle(event)?;
        self.next_id = self.next_id.max(id.0 + 1);
        self.note(entry);
        Ok(())
    }

    /// Keeps a record from now on, for [`take_record`](Self::take_record).
    pub fn keep_record(&mut self) {
        let (config, blocks) = (self.scheduler.config(), self.scheduler.blocks());
        let (block_size, max_blocks) = (blocks.block_size(), blocks.max_blocks());
        self.record = Some(vec![Entry::Start { config, block_size, max_blocks }]);
    }

    /// The entries since the last call.
    pub fn take_record(&mut self) -> Vec<Entry> {
        self.record.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn note(&mut self, entries: impl IntoIterator<Item = Entry>) {
        if let Some(record) = &mut self.record {
            record.extend(entries);
        }
    }

    /// The memory of the KV cache of a sequence, in bytes.
    pub fn kv_cache_bytes(&self, id: SequenceId) -> usize {
        self.caches.get(&id).map_or(0, KvCache::bytes)
    }

    // ANCHOR: step
    /// Plans a step and runs it. Returns the plan, and what it did for each sequence that has new
    /// logits or has failed, in the order of the plan.
    pub fn step(&mut self) -> (Plan, Vec<(SequenceId, Outcome)>) {
        let plan = self.scheduler.plan();
        if self.record.is_some() {
            self.note([Entry::Step { decisions: plan.decisions.clone() }]);
        }
        self.move_memory(&plan);
        let is_suspect = |chunk: &Chunk| self.suspects.contains_key(&chunk.id);
        let outcomes = if plan.chunks.iter().any(is_suspect) {
            self.run_one_by_one(&plan.chunks)
        } else {
            match self.run(&plan.chunks) {
                Pass::Done(outcomes) => outcomes,
                // No cache has changed. One by one, only the sequence at fault fails.
                Pass::Failed(_) => self.run_one_by_one(&plan.chunks),
                Pass::Lost(_) => {
                    let reached = plan.chunks.iter().map(|chunk| (chunk.id, chunk.positions.end));
                    self.suspects.extend(reached);
                    Vec::new()
                }
            }
        };
        if self.record.is_some() {
            self.note(outcomes.iter().map(|(id, outcome)| match outcome {
                Outcome::Logits(logits) => Entry::logits(*id, logits),
                Outcome::PromptLogits { position, rows } => {
                    Entry::prompt_logits(*id, *position, rows)
                }
                Outcome::Failed(_) => Entry::Failed { id: *id },
            }));
        }
        (plan, outcomes)
    }
    // ANCHOR_END: step

    /// Brings the memory into the state that the plan assumes.
    fn move_memory(&mut self, plan: &Plan) {
        for &step in &plan.memory {
            match step {
                Memory::Share { id, block } => {
                    let shared = self.shared.get(&block).cloned();
                    if let (Some(block), Ok(mut cache)) = (shared, self.take_cache(id)) {
                        cache.push_shared(&block);
                        self.caches.insert(id, cache);
                    }
                }
                Memory::Release { id } => drop(self.caches.remove(&id)),
                Memory::Evict { block } => drop(self.shared.remove(&block)),
            }
        }
    }

    /// Gives up all keys and values, as after a panic of the device. Every sequence is computed
    /// again.
    pub fn lose_blocks(&mut self) {
        self.caches.clear();
        self.shared.clear();
        self.scheduler.forget_blocks();
        self.note([Entry::Lost]);
    }

    fn run_one_by_one(&mut self, chunks: &[Chunk]) -> Vec<(SequenceId, Outcome)> {
        let mut outcomes = Vec::new();
        for chunk in chunks {
            let (error, is_lost) = match self.run(std::slice::from_ref(chunk)) {
                Pass::Done(done) => {
                    if self.suspects.get(&chunk.id).is_some_and(|&end| chunk.positions.end >= end) {
                        self.suspects.remove(&chunk.id);
                    }
                    outcomes.extend(done);
                    continue;
                }
                Pass::Failed(error) => (error, false),
                Pass::Lost(error) => (error, true),
            };
            // A failure is recorded as an outcome, not as an event.
            let _ = self.scheduler.handle(Event::Leave { id: chunk.id });
            self.forget(chunk.id);
            outcomes.push((chunk.id, Outcome::Failed(error)));
            if is_lost {
                break; // the others have lost their caches, and are planned again
            }
        }
        outcomes
    }

    // ANCHOR: run
    /// Runs these chunks in one forward pass.
    fn run(&mut self, chunks: &[Chunk]) -> Pass {
        let mut caches = Vec::new();
        for chunk in chunks {
            match self.take_cache(chunk.id) {
                Ok(cache) => caches.push(cache),
                Err(error) => {
                    self.put_back(chunks, caches);
                    return Pass::Failed(error);
                }
            }
        }
        let forward = || {
            #[cfg(test)]
            self.panic_if_poisoned(chunks);
            self.forward(chunks, &mut caches)
        };
        let rows = match panics::contain("the model", forward) {
            Ok(rows) => rows,
            Err(error) => {
                // What the caches hold is unknown.
                self.lose_blocks();
                return Pass::Lost(Error::Device(error.to_string()));
            }
        };
        self.put_back(chunks, caches);
        match rows {
            Ok(rows) => {
                let outcomes = self.outcomes(chunks, rows);
                self.scheduler.complete(chunks);
                self.share_full_blocks(chunks);
                Pass::Done(outcomes)
            }
            Err(error) => Pass::Failed(error),
        }
    }
    // ANCHOR_END: run

    // ANCHOR: forward
    fn forward(&self, chunks: &[Chunk], caches: &mut [KvCache]) -> Result<Vec<Vec<f32>>> {
        let inputs = chunks.iter().zip(caches).map(|(chunk, cache)| {
            let tokens = &self.scheduler.tokens(chunk.id)[chunk.positions.clone()];
            Input::after(cache, tokens).with_logits(chunk.logits)
        });
        self.model.forward(&mut inputs.collect::<Vec<_>>())
    }
    // ANCHOR_END: forward

    /// Hands out the rows of a pass, `[vocab]` each.
    fn outcomes(&self, chunks: &[Chunk], rows: Vec<Vec<f32>>) -> Vec<(SequenceId, Outcome)> {
        let mut outcomes = Vec::new();
        let mut rows = rows.into_iter();
        for chunk in chunks {
            let Chunk { id, positions, logits } = chunk;
            let count = match logits {
                Logits::None => 0,
                Logits::Last => 1,
                Logits::All => positions.len(),
            };
            let mut own: Vec<_> = rows.by_ref().take(count).collect();
            let is_last = positions.end == self.scheduler.tokens(*id).len();
            let next = own.pop_if(|_| is_last);
            let wanted = self.scheduler.to_score(chunk);
            let known = wanted.start - positions.start;
            let rows: Vec<_> = own.into_iter().skip(known).take(wanted.len()).collect();
            if !rows.is_empty() {
                let position = wanted.start + 1;
                outcomes.push((*id, Outcome::PromptLogits { position, rows }));
            }
            outcomes.extend(next.map(|logits| (*id, Outcome::Logits(logits))));
        }
        outcomes
    }

    #[cfg(test)]
    fn panic_if_poisoned(&self, chunks: &[Chunk]) {
        let tokens = |chunk: &Chunk| &self.scheduler.tokens(chunk.id)[chunk.positions.clone()];
        let is_poisoned = |chunk| self.poison.is_some_and(|token| tokens(chunk).contains(&token));
        assert!(!chunks.iter().any(is_poisoned), "the device is lost");
    }

    /// Lets the prefix cache find the memory of the blocks that these chunks have filled.
    fn share_full_blocks(&mut self, chunks: &[Chunk]) {
        for Chunk { id, positions, .. } in chunks {
            let (Some(table), Some(cache)) = (self.scheduler.table(*id), self.caches.get(id))
            else {
                continue;
            };
            for index in positions.start / BLOCK..positions.end / BLOCK {
                let id = table.blocks()[index];
                if self.scheduler.blocks().is_cached(id)
                    && let Some(block) = cache.block(index)
                {
                    self.shared.insert(id, block.clone());
                }
            }
        }
    }

    fn take_cache(&mut self, id: SequenceId) -> Result<KvCache> {
        match self.caches.remove(&id) {
            Some(cache) => Ok(cache),
            None => self.model.new_cache(self.scheduler.max_length(id)),
        }
    }

    fn put_back(&mut self, chunks: &[Chunk], caches: Vec<KvCache>) {
        self.caches.extend(chunks.iter().map(|chunk| chunk.id).zip(caches));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{self, DeviceChoice, Precision};
    use crate::pretrained::Pretrained;

    /// The most likely token.
    fn greedy(logits: &[f32]) -> u32 {
        let best = logits.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        best.map_or(0, |(id, _)| id as u32)
    }

    /// The texts of these prompts, and who failed.
    fn texts(engine: &mut Engine<'_>, prompts: &[&[u32]]) -> (Vec<Vec<u32>>, Vec<SequenceId>) {
        let arrive = |prompt: &&[u32]| engine.arrive(prompt, 10, 4).unwrap();
        let ids: Vec<_> = prompts.iter().map(arrive).collect();
        let (mut texts, mut failed) = (vec![Vec::new(); ids.len()], Vec::new());
        while !engine.scheduler.is_empty() {
            for (id, outcome) in engine.step().1 {
                let index = ids.iter().position(|other| *other == id).unwrap();
                match outcome {
                    Outcome::Logits(logits) => {
                        texts[index].push(greedy(&logits));
                        engine.push(id, greedy(&logits));
                    }
                    Outcome::PromptLogits { .. } => panic!("nobody has asked"),
                    Outcome::Failed(error) => {
                        assert!(error.to_string().contains("the device is lost"), "{error}");
                        failed.push(id);
                    }
                }
                if texts[index].len() == 10 {
                    engine.leave(id);
                }
            }
        }
        (texts, failed)
    }

    #[test]
    fn what_a_lost_device_held_is_computed_again_and_only_the_one_at_fault_fails() {
        let device = device::open(DeviceChoice::Cpu).unwrap();
        let model = Pretrained::bundled(&device, Precision::F32).unwrap().model;
        let prompts: [&[u32]; 3] = [
            &[0, 5, 6, 7, 8, 9, 10, 11],
            &[0, 7, 7, 7, 7, 7, 300],
            &[0, 8, 9, 10],
        ];
        let mut engine = Engine::new(&model, EngineConfig::default());
        let (undisturbed, failed) = texts(&mut engine, &prompts);
        assert!(failed.is_empty());

        // The device panics when the second sequence reads the end of its prompt.
        assert!(!undisturbed.concat().contains(&300));
        let mut engine = Engine::new(&model, EngineConfig::default());
        engine.poison = Some(300);
        let (found, failed) = texts(&mut engine, &prompts);
        assert_eq!(failed, [SequenceId(1)]);
        assert_eq!((&found[0], &found[2]), (&undisturbed[0], &undisturbed[2]));
        assert!(found[1].is_empty());
        assert!(engine.suspects.is_empty() && engine.caches.is_empty());
    }
}
