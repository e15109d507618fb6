//! The running batch, also called continuous batching: sequences are generated together, each one token in
//! a step, and one more for each draft token that is accepted.

mod aside;
mod sequence;
mod turns;

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use super::score::CHUNK;
use super::sequence_state::SequenceState;
use super::{Generation, Options, TokenOutput};
use crate::constrained::ConstraintId;
use crate::engine::{Engine, EngineConfig, Entry, Outcome, Plan, SchedulerRef, SequenceId};
use crate::error::{Error, Result};
use crate::model::Model;
use crate::panics;
use crate::sampling::TokenLogprobs;
use crate::speculation::{Speculation, Speculator};
use aside::Aside;
use sequence::Sequence;

/// Sequences in progress. They may join or leave between any two steps, and do not affect each
/// other's tokens: each has its own sampler, seed and limits. On the CPU, the logits of a sequence
/// have the same bits as when it runs alone, also where it shares blocks of the KV cache with
/// others, or is preempted.
///
/// Several batches of a model, and KV caches outside of them, share its memory for keys and values.
/// While others hold what a batch needs, it waits: a [`step`](Self::step) generates nothing then.
/// Its sequences fail only when no memory is taken or given back for a minute.
///
/// ```
/// # #[cfg(feature = "burn")] {
/// use slowburn::Pretrained;
/// use slowburn::device::{self, DeviceChoice, Precision};
/// use slowburn::generate::{Batch, Event, Options};
///
/// let ember = Pretrained::bundled(&device::open(DeviceChoice::Auto)?, Precision::F32)?;
/// let mut batch = Batch::new(&ember.model);
/// let options = Options { max_tokens: 8, ..Options::default() };
/// for prompt in ["One day", "Once upon a time"] {
///     batch.join(&ember.prompt_ids(prompt)?, &options)?;
/// }
/// while !batch.is_empty() {
///     for (id, event) in batch.step() {
///         if let Event::Finished(generation) = event {
///             println!("{id:?}: {}", ember.tokenizer.decode(&generation.ids)?);
///         }
///     }
/// }
/// # }
/// # Ok::<(), slowburn::Error>(())
/// ```
pub struct Batch<'m> {
    engine: Engine<'m>,
    /// But for those whose tokens are being chosen.
    sequences: BTreeMap<SequenceId, Sequence>,
    /// How sequences speculate that join from now on.
    speculation: Option<Speculation>,
    /// Those that got tokens in the last step, and go on.
    decoding: Vec<SequenceId>,
    /// Those that are complete, and leave in the next step.
    finished: Vec<SequenceId>,
    /// The plan of the last step.
    plan: Plan,
    /// The tokens of the last step that were draft tokens, by their indices in the text.
    drafted: BTreeMap<SequenceId, Range<usize>>,
    /// Whether tokens under constraints are chosen by threads of their own.
    chooses_aside: bool,
    /// Those threads, from the first constraint on.
    aside: Option<Aside>,
    /// The sequences whose tokens they choose, by their constraints.
    constrained: BTreeMap<ConstraintId, Texts>,
}

/// The sequences under one constraint.
#[derive(Default)]
struct Texts {
    begun: BTreeSet<SequenceId>,
    /// Those that wait for others of them to end. They are paused.
    held: BTreeSet<SequenceId>,
}

/// The least and the most time that a step waits for tokens that are chosen aside, and what share of its
/// pass that is between these. Masks are mostly found in a fraction of a millisecond: a sequence is deferred
/// for those that take longer.
const LEAST_WAIT: Duration = Duration::from_millis(1);
const MOST_WAIT: Duration = Duration::from_millis(5);
const SHARE: u32 = 4;

/// Where no sequence can go on before such a token is chosen, how long a step waits for one: in between, others
/// may arrive.
const IDLE: Duration = Duration::from_millis(5);

/// The most tokens of a draft under a constraint that were looked at aside.
const AHEAD: usize = 32;

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

impl<'m> Batch<'m> {
    /// A batch without sequences.
    pub fn new(model: &'m Model) -> Self {
        Self::with_config(model, EngineConfig::default())
    }

    /// As [`new`](Self::new), with other settings of the scheduler.
    pub fn with_config(model: &'m Model, config: EngineConfig) -> Self {
        Self {
            engine: Engine::new(model, config),
            sequences: BTreeMap::new(),
            speculation: None,
            decoding: Vec::new(),
            finished: Vec::new(),
            plan: Plan::default(),
            drafted: BTreeMap::new(),
            chooses_aside: false,
            aside: None,
            constrained: BTreeMap::new(),
        }
    }

    /// From now on, the tokens of texts under a constraint are chosen by threads of their own, next to the
    /// steps. One that takes longer than a share of the step defers its sequence, and not the others. Of a
    /// constraint whose tokens take long on average, or of which that is not known yet, few texts are begun at a
    /// time: the others would only wait, and hold memory. No token depends on that. Texts with rules of the
    /// caller's own are left out.
    pub fn choose_aside(&mut self) {
        self.chooses_aside = true;
    }

    /// From now on, each sequence that joins gets draft tokens, or none. They change no token: see
    /// [`speculation`](crate::speculation). (The tokens of a [`Speculator`] with residual sampling do
    /// depend on them.) A token budget that they share with prompts comes first to
    /// decodes, then to prompts, and then to them.
    pub fn set_speculation(&mut self, speculation: Option<Speculation>) {
        self.speculation = speculation;
    }

    /// Gives a sequence draft tokens from `speculator`.
    pub fn speculate(&mut self, id: SequenceId, speculator: Speculator) {
        if let Some(sequence) = self.sequences.get_mut(&id) {
            self.engine.set_greedy(id, false);
            sequence.speculator = Some(speculator);
        }
    }

    /// Adds a sequence, which takes part as soon as the scheduler admits it. Its memory is
    /// allocated as it grows, or on a device without blocks when it is admitted.
    ///
    /// # Errors
    /// A prompt that [`Model::check_prompt`] rejects, parameters out of range, more tokens than the
    /// budget of the KV caches could ever hold, a draft model with another vocabulary, an adapter of another model.
    pub fn join(&mut self, prompt: &[u32], options: &Options) -> Result<SequenceId> {
        let model = self.engine.model();
        let state = SequenceState::in_batch(model, prompt, options)?;
        let is_constrained = state.sampler.constraint().is_some();
        if self.chooses_aside && is_constrained && self.aside.is_none() {
            // Where the system starts no thread, this one does the work.
            self.aside = Aside::new().ok();
        }
        let speculation = self.speculation.as_ref().map(|speculation| match &self.aside {
            // A draft model would follow the constraint too, in this thread.
            Some(_) if is_constrained => speculation.without_model(),
            _ => speculation.clone(),
        });
        let speculator = speculation.map(|speculation| speculation.start(model)).transpose()?;
        let tokens = state.tokens_left();
        let scores = options.prompt_logprobs.is_some();
        let most = if scores { CHUNK } else { usize::MAX };
        if let Some(adapter) = &options.adapter {
            model.check_adapter(adapter)?;
        }
        let id = self.engine.arrive(prompt, tokens, options.chunk.min(most), scores)?;
        if let Some(adapter) = &options.adapter {
            self.engine.set_adapter(id, adapter);
        }
        self.engine.set_greedy(id, state.wants_token_only() && speculator.is_none());
        self.finished.extend(state.is_finished().then_some(id)); // it may generate nothing
        if let Some(constraint) = state.constraint_aside().filter(|_| self.aside.is_some()) {
            self.constrained.entry(constraint).or_default().held.insert(id);
            self.begin_held();
            let is_held = self.constrained.values().any(|texts| texts.held.contains(&id));
            self.engine.set_paused(id, is_held);
        }
        self.sequences.insert(id, Sequence::new(id, state, speculator));
        Ok(id)
    }

    /// Runs one step of the engine: each sequence that takes part generates one token, and one for
    /// each draft token that is accepted, or prefills a chunk of its prompt. Returns the new tokens in
    /// the order in which the sequences joined, then the sequences that have ended, which leave and
    /// give back their blocks.
    pub fn step(&mut self) -> Vec<(SequenceId, Event)> {
        self.step_until(&mut |_, _| ControlFlow::Continue(()))
    }

    /// As [`step`](Self::step), and ends a sequence at a token at which `on_token` breaks.
    pub(super) fn step_until(
        &mut self,
        on_token: &mut dyn FnMut(SequenceId, &TokenOutput) -> ControlFlow<()>,
    ) -> Vec<(SequenceId, Event)> {
        let mut ended = self.remove_finished();
        self.drafted.clear();
        let late = self.chosen_aside(&[], Duration::ZERO);
        let chosen = if late.is_empty() {
            self.propose();
            // In a browser there is no clock, and nobody aside.
            let start = self.aside.as_ref().map(|_| Instant::now());
            let (plan, outcomes) = self.engine.step();
            self.plan = plan;
            self.next_tokens(outcomes, start.map_or(Duration::ZERO, |start| start.elapsed()))
        } else {
            // They have waited long enough. With them, the next step is planned.
            self.plan = Plan::default();
            self.settle(late)
        };
        let mut events = Vec::new();
        for (id, tokens, end) in chosen {
            for token in tokens {
                let stop = on_token(id, &token).is_break().then_some(token.index + 1);
                events.push((id, Event::Token(token)));
                if let Some(tokens) = stop {
                    self.stop_after(id, tokens);
                    break;
                }
            }
            if let Err(error) = end {
                self.leave(id);
                ended.push((id, Event::Failed(error)));
            }
        }
        ended.extend(self.remove_finished());
        events.extend(ended);
        events
    }

    /// Asks for draft tokens for those that decode in the next step. Not where it reads prompts, which
    /// come first. A draft model reads no more of the texts in a step than the model does.
    fn propose(&mut self) {
        let decoding = mem::take(&mut self.decoding);
        if decoding.is_empty() || self.scheduler().reads_prompts() {
            return;
        }
        let mut unread = self.scheduler().config().step_tokens();
        let mut room = unread.saturating_sub(self.scheduler().running());
        for id in &decoding {
            let Some(Sequence { state, speculator: Some(speculator), .. }) =
                self.sequences.get_mut(id)
            else {
                continue;
            };
            // The last token of a text is sampled from the row before it, and never read.
            let most = state.tokens_left().saturating_sub(1).min(room);
            let is_aside = self.aside.is_some() && state.sampler.constraint().is_some();
            let most = if is_aside { most.min(AHEAD) } else { most };
            let sequences = decoding.len();
            let propose = || speculator.propose_within(&mut unread, &state.text(), most, sequences);
            // A draft that fails costs the text nothing but speed.
            if let Ok(Ok(draft)) = panics::contain("the draft", propose)
                && !draft.is_empty()
            {
                room -= draft.len();
                let _ = self.engine.draft(*id, draft);
            }
        }
    }

    /// Ends a sequence after its first `tokens` tokens.
    fn stop_after(&mut self, id: SequenceId, tokens: usize) {
        if let Some(sequence) = self.sequences.get_mut(&id) {
            sequence.state.stop_after(tokens);
            if !self.finished.contains(&id) {
                self.finished.push(id);
            }
        }
    }

    /// Samples the next tokens of each sequence that has logits, in the order in which they joined.
    /// None where nothing is added to the text.
    ///
    /// All threads take part. No sequence's token depends on another: each has its own sampler. Only
    /// rules of the caller's own run in this thread, which knows whether it may wait: in another one,
    /// a rule that calls the model would wait for this thread, which waits for the rule. Tokens under a
    /// constraint are chosen aside, where there is somebody who does. They are waited for by a share of the
    /// time that the `pass` took.
    fn next_tokens(
        &mut self,
        mut outcomes: Vec<(SequenceId, Outcome)>,
        pass: Duration,
    ) -> Vec<(SequenceId, Vec<TokenOutput>, Result<()>)> {
        outcomes.sort_by_key(|(id, _)| *id);
        // Only these are touched: a step must not take longer because many others wait.
        let mut steps: Vec<Sequence> = Vec::new();
        for (id, outcome) in outcomes {
            if steps.last().is_none_or(|step| step.id != id) {
                steps.push(match self.sequences.remove(&id) {
                    Some(step) => step,
                    None if matches!(outcome, Outcome::Failed(_)) => match self.take_back(id) {
                        Some(step) => step,
                        None => continue,
                    },
                    // It was preempted and computed again, and its token is being chosen already.
                    None => continue,
                });
            }
            if let Some(step) = steps.last_mut() {
                step.outcomes.push(outcome);
            }
        }
        let mut handed = Vec::new();
        if let Some(aside) = &self.aside {
            for step in steps.extract_if(.., |step| step.is_constrained()) {
                handed.push(step.id);
                aside.start(step);
            }
            if self.plan.chunks.is_empty() {
                aside.wait(IDLE);
            }
        }
        steps.iter_mut().filter(|step| step.state.sampler.has_rules()).for_each(Sequence::take);
        // Of those, nothing is left to take.
        self.engine.model().for_each_of(&mut steps, Sequence::take);

        let patience = (pass / SHARE).clamp(LEAST_WAIT, MOST_WAIT);
        steps.extend(self.chosen_aside(&handed, patience));
        steps.sort_by_key(|step| step.id);
        self.settle(steps)
    }

    /// Those whose tokens were chosen aside. Waits for `these` as long as there is patience.
    fn chosen_aside(&self, these: &[SequenceId], patience: Duration) -> Vec<Sequence> {
        self.aside.as_ref().map_or_else(Vec::new, |aside| aside.finish(these, patience))
    }

    /// Takes a sequence back whose token is being chosen aside.
    fn take_back(&mut self, id: SequenceId) -> Option<Sequence> {
        self.aside.as_ref()?.take_back(id)
    }

    /// Lets those begin that need not wait for others under their constraint.
    fn begin_held(&mut self) {
        let Some(aside) = &self.aside else {
            return;
        };
        let config = self.engine.scheduler().config();
        // Enough for all threads, and not more than a part of what may be admitted: that is for others.
        let most_of_one = (config.max_running / 8).clamp(1, 2 * aside.threads());
        let most_of_all = (config.max_admitted / 2).max(1);
        let slow = self.constrained.iter().filter(|(constraint, _)| !aside.is_fast(**constraint));
        let mut slow: usize = slow.map(|(_, texts)| texts.begun.len()).sum();
        for (constraint, texts) in &mut self.constrained {
            let is_fast = aside.is_fast(*constraint);
            // Also of a fast one, few begin in a step, and none where some wait for a thread already.
            let mut few = most_of_one.saturating_sub(aside.waiting(*constraint));
            while (few > 0 && is_fast || (texts.begun.len() < most_of_one && slow < most_of_all))
                && let Some(id) = texts.held.pop_first()
            {
                few = few.saturating_sub(1);
                slow += usize::from(!is_fast);
                texts.begun.insert(id);
                self.engine.set_paused(id, false);
            }
        }
    }

    /// Takes in the tokens that were chosen.
    fn settle(&mut self, steps: Vec<Sequence>) -> Vec<(SequenceId, Vec<TokenOutput>, Result<()>)> {
        let mut tokens = Vec::new();
        for mut step in steps {
            self.drafted.extend(step.drafted().map(|drafted| (step.id, drafted)));
            if step.state.is_finished() {
                self.finished.push(step.id);
            } else if !step.sampled.is_empty() {
                self.decoding.push(step.id);
            }
            for token in step.sampled.drain(..) {
                self.engine.push(step.id, token);
            }
            let end = mem::replace(&mut step.end, Ok(()));
            tokens.push((step.id, mem::take(&mut step.tokens), end));
            self.sequences.insert(step.id, step);
        }
        if self.constrained.values().any(|texts| !texts.held.is_empty()) {
            self.begin_held();
        }
        tokens
    }

    fn remove_finished(&mut self) -> Vec<(SequenceId, Event)> {
        let finished = mem::take(&mut self.finished);
        let end = |id| Some((id, Event::Finished(self.leave(id)?)));
        finished.into_iter().filter_map(end).collect()
    }

    /// Removes a sequence before its end, and returns its output so far. None where it is no longer
    /// in the batch.
    pub fn leave(&mut self, id: SequenceId) -> Option<Generation> {
        // Also of one that is not there it remembers something.
        let aside = self.take_back(id);
        let Sequence { state, .. } = self.sequences.remove(&id).or(aside)?;
        let scheduler = self.engine.scheduler();
        let (cached_tokens, preemptions) = (scheduler.cached_tokens(id), scheduler.preemptions(id));
        drop(scheduler);
        let bytes = self.engine.kv_cache_bytes(id);
        self.engine.leave(id);
        if let Some(constraint) = state.constraint_aside() {
            self.end_constrained(constraint, id);
        }
        Some(Generation { cached_tokens, preemptions, ..state.into_generation(bytes) })
    }

    /// Another one may begin in its place.
    fn end_constrained(&mut self, constraint: ConstraintId, id: SequenceId) {
        let Some(texts) = self.constrained.get_mut(&constraint) else {
            return;
        };
        texts.begun.remove(&id);
        texts.held.remove(&id);
        if texts.begun.is_empty() && texts.held.is_empty() {
            self.constrained.remove(&constraint);
            if let Some(aside) = &self.aside {
                aside.forget(constraint);
            }
        }
        self.begin_held();
    }

    /// Pauses or resumes a sequence. A paused sequence takes part in no step, and lends its blocks
    /// to those that need them.
    pub fn set_paused(&mut self, id: SequenceId, paused: bool) {
        let held_by = self.constrained.values_mut().find(|texts| texts.held.contains(&id));
        if let Some(texts) = held_by {
            // It is paused as it is, and begins once it is resumed.
            if paused {
                texts.held.remove(&id);
                texts.begun.insert(id);
            }
            return;
        }
        self.engine.set_paused(id, paused);
    }

    /// What [`Generation::prompt_logprobs`] of a sequence in the batch will hold, as far as its
    /// prompt is read.
    pub fn prompt_logprobs(&self, id: SequenceId) -> &[TokenLogprobs] {
        self.sequences.get(&id).map_or(&[], |sequence| &sequence.state.prompt_logprobs)
    }

    /// Whether the next step has anything to do.
    pub fn has_work(&self) -> bool {
        !self.finished.is_empty() || self.scheduler().has_work()
    }

    /// The plan of the last step.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Whether the token at `index` of a text was a draft token. Only tokens of the last step are.
    pub fn was_drafted(&self, id: SequenceId, index: usize) -> bool {
        self.drafted.get(&id).is_some_and(|drafted| drafted.contains(&index))
    }

    /// The number of sequences, including waiting and paused ones.
    pub fn len(&self) -> usize {
        self.sequences.len() + self.aside.as_ref().map_or(0, Aside::len)
    }

    /// Whether the batch has no sequences.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory of all blocks that sequences hold, in bytes. A block that several share counts
    /// once.
    pub fn kv_cache_bytes(&self) -> usize {
        self.scheduler().blocks().owned() * self.engine.model().kv_pool().block_bytes()
    }

    /// Keeps a record from now on, for [`take_record`](Self::take_record).
    pub fn keep_record(&mut self) {
        self.engine.keep_record();
    }

    /// What the engine was told, planned and computed since the last call.
    pub fn take_record(&mut self) -> Vec<Entry> {
        self.engine.take_record()
    }

    /// The scheduler, to look at.
    pub fn scheduler(&self) -> SchedulerRef<'_> {
        self.engine.scheduler()
    }
}

#[cfg(test)]
#[path = "batch/tests.rs"]
mod tests;
