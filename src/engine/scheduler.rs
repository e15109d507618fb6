//! The scheduler: state and events in, the plan of a step out.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::sequence::{Sequence, State};
use super::{Chunk, Decision, EngineConfig, EngineStats, Event, Plan, SequenceId};
use crate::error::{RequestError, Result};
use crate::kv::{BlockManager, BlockTable, Memory, Pool};

/// Decides which tokens of which sequences each step computes.
///
/// Sequences decode first; prompts share what that leaves of the token budget, in order of arrival
/// (chunked prefill: Agrawal et al., Sarathi-Serve, OSDI 2024). A sequence gets the blocks for its
/// tokens before they are computed. When there are none left, the one that arrived last is
/// preempted: it gives back all blocks, and its tokens are computed again later (preemption by
/// recomputation: Kwon et al., vLLM, SOSP 2023). No sequence is admitted before one that arrived
/// earlier.
///
/// A block that it hands out is memory `M`; where only the decisions matter, that is nothing.
///
/// ```
/// use slowburn::engine::{EngineConfig, Event, Scheduler, SequenceId};
///
/// let mut scheduler = Scheduler::new(EngineConfig::default(), 32, 16);
/// let id = SequenceId(0);
/// let prompt = vec![5; 40];
/// scheduler.handle(Event::Arrive { id, prompt, max_tokens: 8, chunk: 256, prompt_logits: false })?;
/// let plan = scheduler.plan();
/// assert_eq!(plan.chunks[0].positions, 0..40);
/// scheduler.complete(&plan.chunks);
/// scheduler.handle(Event::Token { id, token: 7 })?;
/// assert_eq!(scheduler.plan().chunks[0].positions, 40..41);
/// # Ok::<(), slowburn::Error>(())
/// ```
#[derive(Debug)]
pub struct Scheduler<M: Memory = ()> {
    pub(super) config: EngineConfig,
    pub(super) blocks: BlockManager<M>,
    /// Whether a sequence gets its blocks as it grows, or all of them when it is admitted.
    pub(super) is_paged: bool,
    /// The most draft tokens of a sequence in a step.
    pub(super) most_drafted: usize,
    pub(super) sequences: BTreeMap<SequenceId, Sequence<M>>,
    /// Those that were never admitted.
    pub(super) queued: BTreeSet<SequenceId>,
    /// Those that were admitted, and wait to go on: preempted, or resumed.
    pub(super) waiting: BTreeSet<SequenceId>,
    pub(super) running: BTreeSet<SequenceId>,
    /// The number of those that were admitted: running, waiting and paused.
    pub(super) admitted: usize,
    /// Those that hold blocks without running: paused, or resumed and not admitted yet.
    pub(super) parked: BTreeSet<SequenceId>,
    /// What was decided since the last plan.
    pub(super) lent: Vec<Decision>,
    /// The sequence that could not go on in the last plan, and how many blocks must be free for it, if
    /// none could.
    pub(super) shortage: Option<(SequenceId, usize)>,
    pub(super) stats: EngineStats,
}

impl Scheduler {
    /// A scheduler without sequences, for so many blocks without memory.
    pub fn new(config: EngineConfig, block_size: usize, max_blocks: usize) -> Self {
        Self::with_pool(config, block_size, Pool::of_blocks(max_blocks))
    }

    /// Plans a step. Blocks change hands now; [`complete`](Self::complete) says when the tokens are
    /// computed.
    pub fn plan(&mut self) -> Plan {
        let pool = self.blocks.pool().clone();
        let (plan, _) = self.plan_in(&pool.turn(None));
        plan
    }
}

impl<M: Memory> Scheduler<M> {
    /// A scheduler without sequences, for the blocks of a pool.
    pub(super) fn with_pool(config: EngineConfig, block_size: usize, pool: Pool<M>) -> Self {
        Self {
            config,
            blocks: BlockManager::new(pool, block_size, config.prefix_cache),
            is_paged: true,
            most_drafted: usize::MAX,
            sequences: BTreeMap::new(),
            queued: BTreeSet::new(),
            waiting: BTreeSet::new(),
            running: BTreeSet::new(),
            admitted: 0,
            parked: BTreeSet::new(),
            lent: Vec::new(),
            shortage: None,
            stats: EngineStats::default(),
        }
    }

    /// For a device on which the memory of a sequence is contiguous: a sequence gets all blocks that
    /// it may need when it is admitted, and shares none of them.
    pub(super) fn contiguous(config: EngineConfig, block_size: usize, pool: Pool<M>) -> Self {
        let config = EngineConfig { prefix_cache: false, ..config };
        Self { is_paged: false, ..Self::with_pool(config, block_size, pool) }
    }

    /// For a network whose queries attend to no more than `window` positions, up to their own and with
    /// it: sequences give back the blocks behind the window, and need none of them from the prefix
    /// cache.
    pub fn with_window(mut self, window: usize) -> Self {
        if self.is_paged {
            self.blocks.set_window(window);
        }
        self
    }

    /// For a network some of whose layers keep a state instead of keys and values: it can take back no more
    /// draft tokens than this.
    pub fn with_states(mut self, most_drafted: usize) -> Self {
        self.most_drafted = most_drafted;
        self
    }

    /// The blocks: who owns them, and what the prefix cache has done.
    pub fn blocks(&self) -> &BlockManager<M> {
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

    /// The number of sequences that take part in steps, or do as soon as their tokens are chosen.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// The number of sequences that were never admitted.
    pub fn queued(&self) -> usize {
        self.sequences.len() - self.admitted
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
    pub fn table(&self, id: SequenceId) -> Option<&BlockTable<M>> {
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

    /// The tokens of a chunk: those of the sequence, and behind them draft tokens.
    pub fn tokens_of(&self, chunk: &Chunk) -> Vec<u32> {
        let Chunk { id, positions, drafted, .. } = chunk;
        let draft = self.sequences.get(id).map_or(&[][..], |sequence| &sequence.draft);
        let tokens = &self.tokens(*id)[positions.start..positions.end - drafted];
        [tokens, &draft[..*drafted]].concat()
    }

    /// How often a sequence was preempted.
    pub fn preemptions(&self, id: SequenceId) -> usize {
        self.sequences.get(&id).map_or(0, |sequence| sequence.preemptions)
    }

    /// Takes note of an event. Events of sequences that have left have no effect.
    ///
    /// # Errors
    /// A sequence that all blocks together could not hold.
    pub fn handle(&mut self, event: Event) -> Result<()> {
        match event {
            Event::Arrive { id, prompt, max_tokens, chunk, prompt_logits } => {
                return self.arrive(id, prompt, max_tokens, chunk, prompt_logits);
            }
            Event::Salt { id, salt } => {
                if let Some(sequence) = self.sequences.get_mut(&id)
                    && sequence.table.end() == 0
                {
                    sequence.salt = salt;
                    sequence.table = BlockTable::salted(salt);
                }
            }
            Event::Token { id, token } => {
                self.push(id, token);
            }
            Event::Draft { id, tokens } => {
                self.reject_unchecked(id);
                if let Some(sequence) = self.sequences.get_mut(&id) {
                    sequence.draft = tokens;
                }
            }
            Event::Pause { id } => self.pause(id),
            Event::Resume { id } => self.resume(id),
            Event::Leave { id } => self.leave(id),
        }
        Ok(())
    }

    fn arrive(
        &mut self,
        id: SequenceId,
        prompt: Vec<u32>,
        max_tokens: usize,
        chunk: usize,
        prompt_logits: bool,
    ) -> Result<()> {
        let max_length = prompt.len().saturating_add(max_tokens);
        let blocks = self.blocks.pool().most_blocks_of_a_sequence();
        let capacity = blocks.saturating_mul(self.blocks.block_size());
        if max_length > capacity {
            return Err(RequestError::KvPoolTooSmall { tokens: max_length, capacity }.into());
        }
        let sequence = Sequence {
            prompt: prompt.len(),
            scored: if prompt_logits { 0 } else { prompt.len() },
            tokens: prompt,
            max_length,
            chunk: chunk.max(1),
            ..Sequence::default()
        };
        self.sequences.insert(id, sequence);
        self.queued.insert(id);
        Ok(())
    }

    /// Appends a sampled token. A draft token at its position that is another one is rejected, with
    /// all behind it.
    fn push(&mut self, id: SequenceId, token: u32) {
        let Some(sequence) = self.sequences.get_mut(&id) else {
            return;
        };
        sequence.draft.clear();
        if sequence.unread() == 1 && sequence.unchecked.pop_front().is_some() {
            // The last token was a draft token too: its keys and values count from now on.
            self.blocks.commit(&mut sequence.table, &sequence.tokens);
            self.blocks.slide(&mut sequence.table);
        }
        sequence.tokens.push(token);
        if sequence.unchecked.front() == Some(&token) {
            self.stats.accepted_tokens += 1;
        } else {
            self.reject_unchecked(id);
        }
    }

    /// Forgets the draft tokens that nothing sampled was equal to, and gives back the blocks behind the
    /// positions that count.
    pub(super) fn reject_unchecked(&mut self, id: SequenceId) {
        if let Some(sequence) = self.sequences.get_mut(&id)
            && !sequence.unchecked.is_empty()
        {
            sequence.unchecked.clear();
            if self.is_paged {
                self.blocks.truncate(&mut sequence.table);
            }
        }
    }

    fn pause(&mut self, id: SequenceId) {
        if self.sequences.contains_key(&id) {
            self.reject_unchecked(id);
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

    pub(super) fn set_state(&mut self, id: SequenceId, state: State) {
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

    /// The block table of a sequence, for the pass that writes to it. [`put_table`](Self::put_table)
    /// gives it back before anything else happens to the sequence.
    pub(super) fn take_table(&mut self, id: SequenceId) -> BlockTable<M> {
        let sequence = self.sequences.get_mut(&id);
        sequence.map_or_else(BlockTable::default, |sequence| std::mem::take(&mut sequence.table))
    }

    pub(super) fn put_table(&mut self, id: SequenceId, table: BlockTable<M>) {
        if let Some(sequence) = self.sequences.get_mut(&id) {
            sequence.table = table;
        }
    }

    /// Notes that these chunks of the last plan were computed. Their full blocks can be shared from
    /// now on.
    pub fn complete(&mut self, chunks: &[Chunk]) {
        for Chunk { id, positions, drafted, .. } in chunks {
            if let Some(sequence) = self.sequences.get_mut(id) {
                let end = positions.end - drafted;
                // The pass may have changed the length of the table.
                let computed = if sequence.decodes_after(positions.start) {
                    &mut self.stats.decode_tokens
                } else {
                    &mut self.stats.prefill_tokens
                };
                *computed += (end - positions.start) as u64;
                self.blocks.commit(&mut sequence.table, &sequence.tokens[..end]);
                self.blocks.slide(&mut sequence.table);
                sequence.scored = sequence.scored.max(end.min(sequence.prompt));
                sequence.has_computed = true;
                sequence.unchecked = sequence.draft.drain(..).take(*drafted).collect();
                self.stats.drafted_tokens += *drafted as u64;
            }
        }
    }
}

fn set(ids: &mut BTreeSet<SequenceId>, id: SequenceId, is_in: bool) {
    if is_in {
        ids.insert(id);
    } else {
        ids.remove(&id);
    }
}
