//! The scheduler: state and events in, the plan of a step out.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use super::sequence::{Sequence, State};
use super::{Chunk, Decision, EngineConfig, EngineStats, Event, Plan, Policy, SequenceId};
use crate::engine::plan::Memory;
use crate::error::{Error, Result};
use crate::kv::{BlockId, BlockManager, BlockTable, Extension};

/// Decides which tokens of which sequences each step computes.
///
/// Sequences decode first; prompts share what that leaves of the token budget, in order of arrival
/// (chunked prefill: Agrawal et al., Sarathi-Serve, OSDI 2024). A sequence gets the blocks for its
/// tokens before they are computed. When there are none left, the one that arrived last is
/// preempted: it gives back all blocks, and its tokens are computed again later (preemption by
/// recomputation: Kwon et al., vLLM, SOSP 2023). Nobody is admitted before a sequence that arrived
/// earlier.
#[derive(Debug)]
pub struct Scheduler {
    config: EngineConfig,
    blocks: BlockManager,
    /// Whether a sequence gets its blocks as it grows, or all of them when it is admitted.
    is_paged: bool,
    sequences: BTreeMap<SequenceId, Sequence>,
    /// Those that were never admitted.
    queued: BTreeSet<SequenceId>,
    /// Those that were admitted, and wait to go on: preempted, or resumed.
    waiting: BTreeSet<SequenceId>,
    running: BTreeSet<SequenceId>,
    /// The number of those that were admitted: running, waiting and paused.
    admitted: usize,
    /// Those that hold blocks without running: paused, or resumed and not admitted yet.
    parked: BTreeSet<SequenceId>,
    stats: EngineStats,
}

/// A plan in the making.
#[derive(Default)]
struct Draft {
    plan: Plan,
    /// The chained hashes of the blocks of prompts that this step fills.
    in_progress: HashSet<u64>,
    /// Whether a running sequence was preempted.
    has_preempted: bool,
}

impl Scheduler {
    /// A scheduler without sequences, for these blocks.
    pub fn new(config: EngineConfig, block_size: usize, max_blocks: usize) -> Self {
        Self {
            config,
            blocks: BlockManager::new(block_size, max_blocks, config.prefix_cache),
            is_paged: true,
            sequences: BTreeMap::new(),
            queued: BTreeSet::new(),
            waiting: BTreeSet::new(),
            running: BTreeSet::new(),
            admitted: 0,
            parked: BTreeSet::new(),
            stats: EngineStats::default(),
        }
    }

    /// For a device on which the memory of a sequence is contiguous: a sequence gets all blocks that
    /// it may need when it is admitted, and shares none of them.
    pub(super) fn contiguous(config: EngineConfig, block_size: usize, max_blocks: usize) -> Self {
        let config = EngineConfig { prefix_cache: false, ..config };
        Self { is_paged: false, ..Self::new(config, block_size, max_blocks) }
    }

    /// The blocks: who owns them, and what the prefix cache has done.
    pub fn blocks(&self) -> &BlockManager {
        &self.blocks
    }

    /// What was computed so far.
    pub fn stats(&self) -> EngineStats {
        self.stats
    }

    /// The settings.
    pub fn config(&self) -> EngineConfig {
        self.config
    }

    /// Whether a sequence was paused, and not resumed.
    pub fn is_paused(&self, id: SequenceId) -> bool {
        self.sequences.get(&id).is_some_and(|sequence| sequence.state == State::Paused)
    }

    /// The number of sequences that take part in steps.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// The number of sequences that were never admitted.
    pub fn queued(&self) -> usize {
        self.queued.len()
    }

    /// The number of sequences that were admitted and do not run: preempted, paused, or resumed.
    pub fn suspended(&self) -> usize {
        self.admitted - self.running.len()
    }

    /// Whether the next step has anything to do.
    pub fn has_work(&self) -> bool {
        !self.running.is_empty() || self.next_to_admit().is_some()
    }

    /// The number of all sequences: running, waiting and paused.
    pub fn len(&self) -> usize {
        self.sequences.len()
    }

    /// Whether there are no sequences.
    pub fn is_empty(&self) -> bool {
        self.sequences.is_empty()
    }

    /// The tokens of a sequence: its prompt, and what was sampled.
    pub fn tokens(&self, id: SequenceId) -> &[u32] {
        self.sequences.get(&id).map_or(&[], |sequence| &sequence.tokens)
    }

    /// The block table of a sequence.
    pub fn table(&self, id: SequenceId) -> Option<&BlockTable> {
        self.sequences.get(&id).map(|sequence| &sequence.table)
    }

    /// The most tokens that a sequence may have, its prompt included.
    pub fn max_length(&self, id: SequenceId) -> usize {
        self.sequences.get(&id).map_or(0, |sequence| sequence.max_length)
    }

    /// The positions of a chunk whose logits are wanted and were not computed before, to score the
    /// prompt tokens at the positions after them. Ask before the chunk is
    /// [complete](Self::complete).
    pub fn to_score(&self, chunk: &Chunk) -> Range<usize> {
        self.sequences.get(&chunk.id).map_or(0..0, |sequence| {
            let start = chunk.positions.start.max(sequence.scored);
            start..chunk.positions.end.min(sequence.prompt.saturating_sub(1)).max(start)
        })
    }

    /// How many prompt tokens of a sequence were found in the prefix cache.
    pub fn cached_tokens(&self, id: SequenceId) -> usize {
        self.sequences.get(&id).map_or(0, |sequence| sequence.cached)
    }

    /// How often a sequence was preempted.
    pub fn preemptions(&self, id: SequenceId) -> usize {
        self.sequences.get(&id).map_or(0, |sequence| sequence.preemptions)
    }

    // ANCHOR: handle
    /// Takes note of an event. Events of sequences that have left have no effect.
    ///
    /// # Errors
    /// A sequence that all blocks together could not hold.
    pub fn handle(&mut self, event: Event) -> Result<()> {
        match event {
            Event::Arrive { id, prompt, max_tokens, chunk, prompt_logits } => {
                return self.arrive(id, prompt, max_tokens, chunk, prompt_logits);
            }
            Event::Token { id, token } => {
                if let Some(sequence) = self.sequences.get_mut(&id) {
                    sequence.tokens.push(token);
                }
            }
            Event::Pause { id } => self.pause(id),
            Event::Resume { id } => self.resume(id),
            Event::Leave { id } => self.leave(id),
        }
        Ok(())
    }
    // ANCHOR_END: handle

    fn arrive(
        &mut self,
        id: SequenceId,
        prompt: Vec<u32>,
        max_tokens: usize,
        chunk: usize,
        prompt_logits: bool,
    ) -> Result<()> {
        let max_length = prompt.len().saturating_add(max_tokens);
        let capacity = self.blocks.max_blocks().saturating_mul(self.blocks.block_size());
        if max_length > capacity {
            return Err(Error::KvPoolTooSmall { tokens: max_length, capacity });
        }
        let sequence = Sequence {
            prompt: prompt.len(),
            scored: if prompt_logits { 0 } else { prompt.len() },
            tokens: prompt,
            max_length,
            chunk: chunk.max(1),
            table: BlockTable::default(),
            state: State::Waiting,
            was_admitted: false,
            has_computed: false,
            cached: 0,
            preemptions: 0,
        };
        self.sequences.insert(id, sequence);
        self.queued.insert(id);
        Ok(())
    }

    fn pause(&mut self, id: SequenceId) {
        if self.sequences.contains_key(&id) {
            self.set_state(id, State::Paused);
        }
    }

    fn resume(&mut self, id: SequenceId) {
        if self.sequences.get(&id).is_some_and(|sequence| sequence.state == State::Paused) {
            self.set_state(id, State::Waiting);
        }
    }

    fn leave(&mut self, id: SequenceId) {
        if let Some(mut sequence) = self.sequences.remove(&id) {
            self.blocks.release(&mut sequence.table);
            self.admitted -= usize::from(sequence.was_admitted);
        }
        self.queued.remove(&id);
        self.waiting.remove(&id);
        self.running.remove(&id);
        self.parked.remove(&id);
    }

    fn set_state(&mut self, id: SequenceId, state: State) {
        let Some(sequence) = self.sequences.get_mut(&id) else {
            return;
        };
        if state == State::Running && !sequence.was_admitted {
            sequence.was_admitted = true;
            self.admitted += 1;
        }
        sequence.state = state;
        let (was_admitted, waits) = (sequence.was_admitted, state == State::Waiting);
        let holds_blocks = !sequence.table.blocks().is_empty();
        set(&mut self.running, id, state == State::Running);
        set(&mut self.queued, id, waits && !was_admitted);
        set(&mut self.waiting, id, waits && was_admitted);
        set(&mut self.parked, id, state != State::Running && holds_blocks);
    }

    // ANCHOR: plan
    /// Plans a step. Blocks change hands now; [`complete`](Self::complete) says when the tokens are
    /// computed.
    pub fn plan(&mut self) -> Plan {
        let mut draft = Draft::default();
        let may_admit = self.config.policy != Policy::StaticBatch || self.running.is_empty();

        // Decodes: one token of each sequence that has read its prompt.
        for id in self.running.iter().copied().collect::<Vec<_>>() {
            if self.sequences[&id].decodes() && self.is_running(id) {
                self.read(id, 1, &mut draft);
            }
        }
        // Prompts: chunks of what is left, but at least one token.
        let budget = match self.config.policy {
            Policy::ChunkedPrefill => self.config.token_budget,
            _ => usize::MAX,
        };
        let mut left = budget.saturating_sub(draft.plan.tokens()).max(1);
        for id in self.running.iter().copied().collect::<Vec<_>>() {
            if self.sequences[&id].decodes() || !self.is_running(id) {
                continue;
            }
            if left == 0 {
                draft.plan.decisions.push(Decision::OverBudget { id });
                continue;
            }
            self.extend(id, &mut draft);
            left -= self.prefill(id, left, &mut draft);
        }
        // Admission, in order of arrival. Not in a step that had to preempt.
        while may_admit && !draft.has_preempted && left > 0 {
            let Some(id) = self.next_to_admit().filter(|_| self.has_slot()) else {
                break;
            };
            if !self.admit(id, &mut draft) {
                break;
            }
            left -= self.prefill(id, left, &mut draft);
        }
        self.stats.steps += u64::from(!draft.plan.chunks.is_empty());
        draft.plan
    }
    // ANCHOR_END: plan

    /// Notes that these chunks of the last plan were computed. Their full blocks can be shared from
    /// now on.
    pub fn complete(&mut self, chunks: &[Chunk]) {
        for Chunk { id, positions, .. } in chunks {
            if let Some(sequence) = self.sequences.get_mut(id) {
                let computed = if sequence.decodes() {
                    &mut self.stats.decode_tokens
                } else {
                    &mut self.stats.prefill_tokens
                };
                *computed += positions.len() as u64;
                let tokens = &sequence.tokens[..positions.end];
                self.blocks.commit(&mut sequence.table, tokens);
                sequence.scored = sequence.scored.max(positions.end.min(sequence.prompt));
                sequence.has_computed = true;
            }
        }
    }

    /// Takes all blocks from all sequences, and empties the prefix cache: what the blocks held is
    /// lost. Every sequence waits, and will be computed again.
    pub fn forget_blocks(&mut self) {
        self.blocks.clear();
        for (&id, sequence) in &mut self.sequences {
            sequence.table = BlockTable::default();
            sequence.has_computed = false;
            if sequence.state == State::Running {
                sequence.state = State::Waiting;
                self.waiting.insert(id);
            }
        }
        self.running.clear();
        self.parked.clear();
    }

    fn is_running(&self, id: SequenceId) -> bool {
        self.running.contains(&id)
    }

    fn has_slot(&self) -> bool {
        let max_running = match self.config.policy {
            Policy::OneAtATime => 1,
            _ => self.config.max_running.max(1),
        };
        self.running.len() < max_running
    }

    /// The first in the order of arrival that may be admitted.
    fn next_to_admit(&self) -> Option<SequenceId> {
        let may_start = self.admitted < self.config.max_admitted.max(self.config.max_running);
        let queued = self.queued.first().filter(|_| may_start);
        queued.into_iter().chain(self.waiting.first()).min().copied()
    }

    // ANCHOR: admit
    /// Admits a waiting sequence, if there are blocks for all its tokens so far. It may take those
    /// of parked sequences, but nobody's who runs.
    fn admit(&mut self, id: SequenceId, draft: &mut Draft) -> bool {
        let Some(sequence) = self.sequences.get_mut(&id) else {
            return false;
        };
        let length = if self.is_paged {
            sequence.tokens.len()
        } else {
            sequence.max_length
        };
        let extension = sequence.extend(&mut self.blocks);
        while self.blocks.missing(&self.sequences[&id].table, length) > self.blocks.available() {
            let Some(parked) = self.last_parked_except(id) else {
                if let Some(sequence) = self.sequences.get_mut(&id) {
                    self.blocks.undo(&mut sequence.table, extension);
                }
                return false;
            };
            self.take_blocks(parked, draft);
        }
        self.share(id, extension, draft);
        self.set_state(id, State::Running);
        let cached = self.sequences[&id].table.length();
        draft.plan.decisions.push(Decision::Admitted { id, cached });
        if !self.is_paged
            && let Some(Sequence { table, .. }) = self.sequences.get_mut(&id)
        {
            // There are as many: nothing is evicted where nothing is shared.
            let _ = self.blocks.reserve(table, length - cached, &mut Vec::new());
        }
        true
    }
    // ANCHOR_END: admit

    /// Lets a sequence read its next chunk, of up to `left` tokens, and returns their number.
    fn prefill(&mut self, id: SequenceId, left: usize, draft: &mut Draft) -> usize {
        let sequence = &self.sequences[&id];
        let is_aligned = sequence.table.length().is_multiple_of(self.blocks.block_size());
        let mut next = self.blocks.next_hashes(&sequence.table, &sequence.tokens);
        let is_in_progress = next.next().is_some_and(|hash| draft.in_progress.contains(&hash));
        if is_aligned && is_in_progress && sequence.may_share() {
            draft.plan.decisions.push(Decision::Deferred { id });
            return 0;
        }
        drop(next);
        let chunk = match self.config.policy {
            Policy::ChunkedPrefill => sequence.chunk,
            _ => usize::MAX,
        };
        self.read(id, sequence.unread().min(left).min(chunk), draft)
    }

    /// Appends to a running sequence what the prefix cache has of its next tokens.
    fn extend(&mut self, id: SequenceId, draft: &mut Draft) {
        if let Some(sequence) = self.sequences.get_mut(&id) {
            let extension = sequence.extend(&mut self.blocks);
            self.share(id, extension, draft);
        }
    }

    /// Takes note of the blocks that a sequence has taken from the prefix cache.
    fn share(&mut self, id: SequenceId, extension: Extension, draft: &mut Draft) {
        let size = self.blocks.block_size();
        self.blocks.count(extension);
        if let Some(Sequence { table, prompt, preemptions, cached, .. }) =
            self.sequences.get_mut(&id)
        {
            let blocks = table.blocks();
            let first = blocks.len() - extension.found;
            let share = |&block: &BlockId| Memory::Share { id, block };
            draft.plan.memory.extend(blocks[first..].iter().map(share));
            if *preemptions == 0 {
                let before = table.length() - extension.found * size;
                *cached += table.length().min(*prompt) - before.min(*prompt);
            }
        }
    }

    // ANCHOR: read
    /// Plans the next `new` tokens of a running sequence, or as many as there are blocks for, and
    /// returns their number. An earlier sequence takes blocks from a later one.
    fn read(&mut self, id: SequenceId, new: usize, draft: &mut Draft) -> usize {
        let mut new = new;
        let mut evicted = Vec::new();
        let Some(mut table) = self.sequences.get_mut(&id).map(|s| std::mem::take(&mut s.table))
        else {
            return 0;
        };
        while self.blocks.reserve(&mut table, new, &mut evicted).is_err() {
            if let Some(parked) = self.last_parked_except(id) {
                self.take_blocks(parked, draft);
            } else if let Some(later) = self.running.last().copied().filter(|&last| last > id) {
                self.preempt(later, draft);
            } else {
                // Nobody is later: as much as there is room for.
                let size = self.blocks.block_size();
                let blocks = table.blocks().len() + self.blocks.available();
                new = blocks * size - table.length();
                if new == 0 {
                    draft.plan.decisions.push(Decision::Stalled { id });
                }
            }
        }
        let evict = |block| Memory::Evict { block };
        draft.plan.memory.extend(evicted.into_iter().map(evict));
        let start = table.length();
        let Some(sequence) = self.sequences.get_mut(&id) else {
            return 0;
        };
        sequence.table = table;
        if new == 0 {
            return 0;
        }
        let positions = start..start + new;
        let logits = sequence.logits(&positions);
        draft.plan.decisions.push(if sequence.decodes() {
            Decision::Decode { id }
        } else {
            let tokens = &sequence.tokens[..positions.end];
            draft.in_progress.extend(self.blocks.next_hashes(&sequence.table, tokens));
            Decision::Prefill { id, start, tokens: new }
        });
        draft.plan.chunks.push(Chunk { id, positions, logits });
        new
    }
    // ANCHOR_END: read

    /// The latest sequence that holds blocks without running.
    fn last_parked_except(&self, id: SequenceId) -> Option<SequenceId> {
        self.parked.iter().rev().copied().find(|&parked| parked != id)
    }

    /// Takes the blocks of a running sequence, which waits again at its old place.
    fn preempt(&mut self, id: SequenceId, draft: &mut Draft) {
        draft.has_preempted = true;
        draft.plan.chunks.retain(|chunk| chunk.id != id);
        draft.plan.decisions.retain(|decision| decision.id() != id);
        if let Some(sequence) = self.sequences.get_mut(&id) {
            sequence.has_computed = true; // it counts, whatever it has done so far
        }
        self.take_blocks(id, draft);
        self.set_state(id, State::Waiting);
    }

    /// Takes all blocks of a sequence. One that has only shared blocks loses no work.
    fn take_blocks(&mut self, id: SequenceId, draft: &mut Draft) {
        if let Some(sequence) = self.sequences.get_mut(&id) {
            let tokens = sequence.table.length();
            self.blocks.release(&mut sequence.table);
            draft.plan.memory.push(Memory::Release { id });
            if sequence.has_computed {
                sequence.has_computed = false;
                sequence.preemptions += 1;
                self.stats.preemptions += 1;
                draft.plan.decisions.push(Decision::Preempted { id, tokens });
            }
        }
        self.parked.remove(&id);
    }
}

fn set(ids: &mut BTreeSet<SequenceId>, id: SequenceId, is_in: bool) {
    if is_in {
        ids.insert(id);
    } else {
        ids.remove(&id);
    }
}
