//! The engine: carries out the plans of a scheduler on a model.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use super::holdings::{Holdings, SchedulerRef};
use super::on_model::{ChunkInput, most_likely, with_caches};
use super::outcome::{Outcome, outcomes, tokens};
use super::record::hash_of;
use super::{
    Chunk, Decision, EngineConfig, Entry, Event, Plan, RecordedModel, Scheduler, SequenceId,
};
use crate::adapter::Adapter;
use crate::error::{DeviceError, Error, RequestError, Result, ServiceError};
use crate::kv::{self, BLOCK, BlockTable, Lender, LenderId};
use crate::model::{Logits, Model, MostLikely};
use crate::panics;

/// A model, and a scheduler that hands out its memory for keys and values.
///
/// The tokens and logits of a sequence do not depend on what else runs, on how its prompt is split,
/// on blocks that it shares or on preemption: on the CPU the logits have the same bits.
///
/// Other KV caches and engines of the same model may need its blocks, and take them between two
/// steps: those that it does not need first.
pub struct Engine<'m> {
    model: &'m Model,
    holdings: Arc<RwLock<Holdings>>,
    id: LenderId,
    /// The most blocks, and the most for draft tokens, as far as the caller knows.
    most_blocks: (usize, usize),
    /// The pauses since the memory of the pool changed, and which change that was.
    pauses: (u32, u64),
    most_pauses: u32,
    /// The sequences of a pass that panicked, and the position that each had reached after it: up to
    /// there each runs alone, to find the one at fault.
    suspects: HashMap<SequenceId, usize>,
    /// Those of which only the most likely token is wanted.
    greedy: HashSet<SequenceId>,
    /// Of those that have one.
    adapters: HashMap<SequenceId, Arc<Adapter>>,
    next_id: u64,
}

/// The end of a forward pass.
enum PassEnd {
    Done(Vec<(SequenceId, Outcome)>),
    /// Nothing has changed.
    Failed(Error),
    /// It panicked, and all keys and values are lost.
    Lost(Error),
}

/// What a pass computed of the tokens whose logits were wanted, in order.
enum Rows {
    /// `[vocab]` each.
    Logits(Vec<Vec<f32>>),
    MostLikely(Vec<MostLikely>),
}

impl<'m> Engine<'m> {
    /// An engine without sequences, whose blocks come from the model's pool.
    pub fn new(model: &'m Model, config: EngineConfig) -> Self {
        let pool = model.kv_pool();
        let mut scheduler = if pool.is_paged() {
            Scheduler::with_pool(config, BLOCK, pool.clone())
        } else {
            Scheduler::contiguous(config, BLOCK, pool.clone())
        };
        if let Some(window) = model.config().window() {
            scheduler = scheduler.with_window(window);
        }
        if let Some(most) = model.most_drafted() {
            scheduler = scheduler.with_states(most);
        }
        let holdings = Holdings { scheduler, computes: false, record: None };
        let holdings = Arc::new(RwLock::new(holdings));
        let lender: Arc<RwLock<dyn Lender>> = Arc::clone(&holdings) as _;
        let id = pool.turn(None).register(&lender);
        Self {
            model,
            holdings,
            id,
            most_blocks: (usize::MAX, usize::MAX),
            pauses: (0, 0),
            most_pauses: kv::MOST_PAUSES,
            suspects: HashMap::new(),
            greedy: HashSet::new(),
            adapters: HashMap::new(),
            next_id: 0,
        }
    }

    /// The model.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// The scheduler, to look at.
    pub fn scheduler(&self) -> SchedulerRef<'_> {
        SchedulerRef(self.holdings.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change(&self) -> RwLockWriteGuard<'_, Holdings> {
        self.holdings.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a sequence, which waits to be admitted. In a step it reads at most `chunk` tokens of
    /// its prompt, under [`Policy::ChunkedPrefill`](super::Policy), the default. With
    /// `prompt_logits`, the logits of all prompt tokens are wanted: see [`Outcome::PromptLogits`].
    /// Those of a chunk take `[chunk, vocab]` numbers.
    ///
    /// # Errors
    /// A prompt that [`Model::check_prompt`] rejects; a sequence that the pool cannot hold.
    pub fn arrive(
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

    /// Has all tokens of a sequence that has just arrived computed with an adapter.
    pub fn set_adapter(&mut self, id: SequenceId, adapter: &Arc<Adapter>) {
        self.adapters.insert(id, Arc::clone(adapter));
        self.tell(Event::Salt { id, salt: adapter.id() });
    }

    /// Appends the token that was sampled from the logits of the last step.
    pub fn push(&mut self, id: SequenceId, token: u32) {
        self.tell(Event::Token { id, token });
    }

    /// Proposes the next tokens of a sequence: see [`Event::Draft`].
    ///
    /// # Errors
    /// An id outside the vocabulary, or no token: nothing is proposed.
    pub fn draft(&mut self, id: SequenceId, tokens: Vec<u32>) -> Result<()> {
        self.handle(Event::Draft { id, tokens })
    }

    /// Whether of this sequence's logits only the most likely token is wanted. Where that holds for all
    /// that take part in a step, and a GPU computes, it finds the tokens itself:
    /// [`Outcome::MostLikely`] then comes in place of [`Outcome::Logits`].
    pub fn set_greedy(&mut self, id: SequenceId, greedy: bool) {
        if greedy {
            self.greedy.insert(id);
        } else {
            self.greedy.remove(&id);
        }
    }

    /// Pauses or resumes a sequence. The blocks of a paused one are taken when others need them,
    /// and computed again when it goes on.
    pub fn set_paused(&mut self, id: SequenceId, paused: bool) {
        if self.scheduler().is_paused(id) != paused {
            self.tell(if paused {
                Event::Pause { id }
            } else {
                Event::Resume { id }
            });
        }
    }

    /// Removes a sequence and gives back its blocks.
    pub fn leave(&mut self, id: SequenceId) {
        self.suspects.remove(&id);
        self.greedy.remove(&id);
        self.adapters.remove(&id);
        self.tell(Event::Leave { id });
    }

    fn tell(&mut self, event: Event) {
        // Only an arrival can be refused.
        let _ = self.handle(event);
    }

    /// Takes note of any event, of a recorded run for example.
    ///
    /// # Errors
    /// As [`arrive`](Self::arrive); the salt of an adapter that the sequence does not have: those of a recorded run are
    /// not there any more.
    pub fn handle(&mut self, event: Event) -> Result<()> {
        if let Event::Arrive { prompt: tokens, .. } | Event::Draft { tokens, .. } = &event {
            self.model.check_prompt(tokens)?;
        }
        if let Event::Salt { id, salt } = &event
            && self.adapters.get(id).is_none_or(|adapter| adapter.id() != *salt)
        {
            return Err(RequestError::Parameter {
                name: "the salt of a sequence",
                value: salt.to_string(),
                allowed: "that of its adapter (a run with adapters cannot be repeated from its record)",
            }
            .into());
        }
        let id = event.id();
        let mut holdings = self.change();
        let entry = holdings.record.is_some().then(|| Entry::Event { event: event.clone() });
        holdings.scheduler.handle(event)?;
        holdings.note(entry);
        drop(holdings);
        self.next_id = self.next_id.max(id.0 + 1);
        Ok(())
    }

    /// From now on there are at most so many blocks, as if others held the rest, and those are given
    /// up that are [asked for](Self::lend): what a record says of them. Draft tokens get none beyond
    /// `idle` blocks, as if the prefix caches of others held the rest.
    pub fn set_limit(&mut self, blocks: usize, idle: usize) {
        self.most_blocks = (blocks, idle);
    }

    /// Gives up blocks, as for others.
    pub fn lend(&mut self, blocks: usize, preempt: bool) {
        self.change().lend(blocks, preempt);
    }

    /// Keeps a record from now on, for [`take_record`](Self::take_record).
    pub fn keep_record(&mut self) {
        // Before the lock: its pass takes memory, and may need what this engine can lend.
        let model = Some(RecordedModel::of(self.model));
        let mut holdings = self.change();
        let (config, blocks) = (holdings.scheduler.config(), holdings.scheduler.blocks());
        let (block_size, max_blocks) = (blocks.block_size(), blocks.max_blocks());
        let limit = Entry::Limit { blocks: blocks.limit(), idle: blocks.idle_limit() };
        let is_limited = blocks.limit() < max_blocks || blocks.idle_limit() < max_blocks;
        holdings.record = Some(vec![Entry::Start { model, config, block_size, max_blocks }]);
        holdings.note(is_limited.then_some(limit));
    }

    /// The entries since the last call.
    pub fn take_record(&mut self) -> Vec<Entry> {
        self.change().record.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The memory of the blocks of a sequence, in bytes.
    pub fn kv_cache_bytes(&self, id: SequenceId) -> usize {
        let blocks = self.scheduler().table(id).map_or(0, BlockTable::blocks_of_memory);
        blocks * self.model.kv_pool().block_bytes()
    }

    /// Plans a step and runs it. Returns the plan, and what it did for each sequence that has new
    /// logits or has failed, in the order of the plan.
    pub fn step(&mut self) -> (Plan, Vec<(SequenceId, Outcome)>) {
        let (plan, failed) = self.plan();
        let is_suspect = |chunk: &Chunk| self.suspects.contains_key(&chunk.id);
        let mut outcomes = if plan.chunks.is_empty() {
            self.pause(&plan)
        } else if plan.chunks.iter().any(is_suspect) {
            self.run_one_by_one(&plan.chunks)
        } else {
            match self.run(&plan.chunks) {
                PassEnd::Done(outcomes) => outcomes,
                // No table has changed. One by one, only the sequence at fault fails.
                PassEnd::Failed(_) => self.run_one_by_one(&plan.chunks),
                PassEnd::Lost(_) => {
                    let end = |chunk: &Chunk| chunk.positions.end - chunk.drafted;
                    let reached = plan.chunks.iter().map(|chunk| (chunk.id, end(chunk)));
                    self.suspects.extend(reached);
                    Vec::new()
                }
            }
        };
        outcomes.extend(failed.into_iter().map(|(id, error)| self.fail(id, error)));
        self.end_step(&outcomes);
        (plan, outcomes)
    }

    /// Plans a step, and takes the memory for it. Returns the plan, and which sequences fail since
    /// the machine has too little memory.
    fn plan(&self) -> (Plan, Vec<(SequenceId, Error)>) {
        let turn = self.model.kv_pool().turn(Some(self.id));
        let mut holdings = self.change();
        let (mut plan, mut failed) = holdings.plan(&turn, self.most_blocks);
        if let Some((_, blocks)) = holdings.scheduler.shortage()
            && turn.make_room(blocks)
        {
            let before = plan.decisions;
            (plan, failed) = holdings.plan(&turn, self.most_blocks);
            plan.decisions.splice(0..0, before);
        }
        // What another engine had to lend is being looked at: the next step tries again.
        failed
            .retain(|(_, error)| !matches!(error, Error::Service(ServiceError::KvPoolFull { .. })));
        holdings.computes = !plan.chunks.is_empty();
        (plan, failed)
    }

    /// Where others hold the memory for the next step: gives them some time. A sequence fails if they
    /// give none back for a minute, and none of its own will, whose token is being chosen.
    fn pause(&mut self, plan: &Plan) -> Vec<(SequenceId, Outcome)> {
        let shortage = self.scheduler().shortage();
        let Some((id, blocks)) = shortage else {
            return Vec::new();
        };
        let pool = self.model.kv_pool();
        kv::pause();
        let (pauses, change) = self.pauses;
        let is_choosing = |decision: &Decision| matches!(decision, Decision::Choosing { .. });
        self.pauses = if pool.changes() == change && !plan.decisions.iter().any(is_choosing) {
            (pauses + 1, change)
        } else {
            (0, pool.changes())
        };
        if self.pauses.0 < self.most_pauses {
            return Vec::new();
        }
        vec![self.fail(id, pool.full(blocks))]
    }

    /// Others may have blocks of the sequences again. Notes what came out of the step.
    fn end_step(&self, outcomes: &[(SequenceId, Outcome)]) {
        let mut holdings = self.change();
        holdings.computes = false;
        if holdings.record.is_some() {
            holdings.note(outcomes.iter().filter_map(|&(id, ref outcome)| match outcome {
                Outcome::Logits(logits) => Some(Entry::Logits { id, hash: hash_of(logits) }),
                Outcome::MostLikely(_) => None, // only where no record is kept
                Outcome::Checked { rows, .. } => {
                    Some(Entry::Logits { id, hash: hash_of(rows.iter().flatten()) })
                }
                &Outcome::PromptLogits { position, ref rows } => {
                    let hash = hash_of(rows.iter().flatten());
                    Some(Entry::PromptLogits { id, position, hash })
                }
                Outcome::Failed(_) => Some(Entry::Failed { id }),
            }));
        }
    }

    /// Gives up all keys and values, as after a panic of the device. Every sequence is computed
    /// again.
    pub fn lose_blocks(&mut self) {
        let mut holdings = self.change();
        holdings.scheduler.forget_blocks();
        holdings.note([Entry::Lost]);
    }

    /// Removes a sequence that failed.
    fn fail(&mut self, id: SequenceId, error: Error) -> (SequenceId, Outcome) {
        self.suspects.remove(&id);
        self.greedy.remove(&id);
        self.adapters.remove(&id);
        let mut holdings = self.change();
        // A failure is recorded as an outcome, not as an event.
        let _ = holdings.scheduler.handle(Event::Leave { id });
        (id, Outcome::Failed(error))
    }

    fn run_one_by_one(&mut self, chunks: &[Chunk]) -> Vec<(SequenceId, Outcome)> {
        let mut outcomes = Vec::new();
        for chunk in chunks {
            let (error, is_lost) = match self.run(std::slice::from_ref(chunk)) {
                PassEnd::Done(done) => {
                    if self.suspects.get(&chunk.id).is_some_and(|&end| chunk.positions.end >= end) {
                        self.suspects.remove(&chunk.id);
                    }
                    outcomes.extend(done);
                    continue;
                }
                PassEnd::Failed(error) => (error, false),
                PassEnd::Lost(error) => (error, true),
            };
            outcomes.push(self.fail(chunk.id, error));
            if is_lost {
                break; // the others have lost their caches, and are planned again
            }
        }
        outcomes
    }

    /// Runs these chunks in one forward pass, with the block tables of their sequences.
    fn run(&mut self, chunks: &[Chunk]) -> PassEnd {
        let mut inputs = self.take_inputs(chunks);
        let rows = match panics::contain("the model", || self.compute(chunks, &mut inputs)) {
            Ok(rows) => rows,
            Err(error) => {
                // What the blocks hold is unknown.
                self.lose_blocks();
                return PassEnd::Lost(Error::Device(DeviceError::Failed(error.to_string())));
            }
        };
        let mut holdings = self.change();
        for (chunk, input) in chunks.iter().zip(inputs) {
            holdings.scheduler.put_table(chunk.id, input.table);
        }
        match rows {
            Ok(rows) => {
                let outcomes = match rows {
                    Rows::Logits(rows) => outcomes(&holdings.scheduler, chunks, rows),
                    Rows::MostLikely(rows) => tokens(chunks, rows),
                };
                holdings.scheduler.complete(chunks);
                PassEnd::Done(outcomes)
            }
            Err(error) => PassEnd::Failed(error),
        }
    }

    fn compute(&self, chunks: &[Chunk], inputs: &mut [ChunkInput]) -> Result<Rows> {
        #[cfg(test)]
        tests::use_device(inputs);
        if self.wants_tokens_only(chunks)
            && let Some(tokens) = most_likely(self.model, inputs)
        {
            return tokens.map(Rows::MostLikely);
        }
        with_caches(self.model, inputs, |inputs| self.model.forward(inputs)).map(Rows::Logits)
    }

    /// Whether nobody looks at the logits of these chunks: no record is kept, and each that has some
    /// belongs to a greedy sequence without draft tokens.
    fn wants_tokens_only(&self, chunks: &[Chunk]) -> bool {
        let is_one = |chunk: &Chunk| chunk.logits == Logits::Last && chunk.drafted == 0;
        let is_greedy = |chunk: &Chunk| is_one(chunk) && self.greedy.contains(&chunk.id);
        chunks.iter().all(|chunk| chunk.logits == Logits::None || is_greedy(chunk))
            && self.scheduler().0.record.is_none()
    }

    /// The tokens of each chunk, and the block table of its sequence, which nothing else touches
    /// during the pass.
    fn take_inputs(&self, chunks: &[Chunk]) -> Vec<ChunkInput> {
        let mut holdings = self.change();
        let input = |chunk: &Chunk| ChunkInput {
            tokens: holdings.scheduler.tokens_of(chunk),
            table: holdings.scheduler.take_table(chunk.id),
            adapter: self.adapters.get(&chunk.id).cloned(),
            logits: chunk.logits,
        };
        chunks.iter().map(input).collect()
    }
}

#[cfg(test)]
#[path = "step/tests.rs"]
mod tests;
