//! The model thread: one batch for the sequences of all jobs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use super::builder::Settings;
use super::callback::Callback;
use super::job::{JobId, RunningJob};
use super::model_thread;
use super::permits::Permit;
use super::sequence::LiveSequence;
use super::{FinishReason, Load, PreparedSequence};
use crate::engine::{Decision, EngineStats, SequenceId};
use crate::error::{DeviceError, Error, Result};
use crate::generate::{Batch, Event, Generation, TokenOutput};
use crate::kv::PrefixStats;
use crate::panics;
use crate::pretrained::Pretrained;
use crate::sync::mpsc::{Receiver, RecvTimeoutError};

/// The most commands to take between two steps, so that a busy sender cannot delay the step.
const AT_ONCE: usize = 1024;

/// A command to the model thread.
pub(super) enum Command<M> {
    /// Enqueue the sequences of a job, each with its slot in the queue.
    Run(Arc<RunningJob>, Vec<(PreparedSequence, Permit)>),
    /// Answer, between two steps, a caller that waits.
    Ask(Question<M>),
    /// Check a job again: it was cancelled, or its reader has caught up.
    LookAt(JobId),
    /// End all jobs and return.
    ShutDown,
}

/// A function of the model and the current load.
type Question<M> = Callback<Box<dyn FnOnce(&M, Load) + Send>>;

/// The state of the model thread.
pub(super) struct Worker<'m, M> {
    model: &'m M,
    pretrained: &'m Pretrained,
    commands: Receiver<Command<M>>,
    questions: VecDeque<Question<M>>,
    batch: Batch<'m>,
    /// All sequences of the batch. No step visits those that wait to be admitted, so that it costs
    /// the same however many they are.
    sequences: BTreeMap<SequenceId, LiveSequence<'m>>,
    /// Those that were admitted.
    admitted: BTreeSet<SequenceId>,
    of_jobs: BTreeSet<(JobId, SequenceId)>,
    deadlines: BTreeSet<(Instant, SequenceId)>,
    /// Those that have left the batch in this step, and are not reported yet.
    finished: BTreeMap<SequenceId, Generation>,
    settings: Settings,
    /// What batches before this one have done.
    before: (EngineStats, PrefixStats),
}

impl<'m, M> Worker<'m, M> {
    pub(super) fn new(
        model: &'m M,
        pretrained: &'m Pretrained,
        commands: Receiver<Command<M>>,
        settings: Settings,
    ) -> Self {
        let mut batch = new_batch(pretrained, &settings);
        if settings.recorder.is_on() {
            batch.keep_record();
        }
        Self {
            model,
            pretrained,
            commands,
            questions: VecDeque::new(),
            batch,
            sequences: BTreeMap::new(),
            admitted: BTreeSet::new(),
            of_jobs: BTreeSet::new(),
            deadlines: BTreeSet::new(),
            finished: BTreeMap::new(),
            settings,
            before: Default::default(),
        }
    }

    /// Runs until shutdown.
    // ANCHOR: run
    pub(super) fn run(mut self) {
        model_thread::enter();
        while self.take_commands() {
            self.end_what_is_over();
            self.pause_what_is_behind();
            self.step();
        }
        self.shut_down();
    }
    // ANCHOR_END: run

    /// Takes new commands, blocking if idle, and answers the questions. False at shutdown.
    fn take_commands(&mut self) -> bool {
        let first = if self.is_busy() { None } else { self.wait() };
        let mut goes_on = self.take_in(first);
        // Only the questions queued by now, so that a caller that asks again at once cannot delay
        // the step.
        for _ in 0..self.questions.len() {
            if !goes_on {
                break;
            }
            // Several calls may take long, so deadlines are checked before each.
            self.end_what_is_over();
            self.answer_next();
            goes_on = self.take_in(None);
        }
        goes_on
    }

    /// Dispatches the new commands. False at shutdown.
    fn take_in(&mut self, first: Option<Command<M>>) -> bool {
        let sent = first.into_iter().chain(self.commands.try_iter());
        let sent: Vec<_> = sent.take(AT_ONCE).collect();
        let mut goes_on = true;
        for command in sent {
            match command {
                Command::Run(job, sequences) => self.enqueue(&job, sequences),
                Command::Ask(question) => self.questions.push_back(question),
                Command::LookAt(job) => self.end_if_over(job),
                Command::ShutDown => goes_on = false,
            }
        }
        goes_on
    }

    /// Adds the sequences of a job to the batch.
    fn enqueue(&mut self, job: &Arc<RunningJob>, sequences: Vec<(PreparedSequence, Permit)>) {
        let (tokenizer, chunk) = (&self.pretrained.tokenizer, self.settings.chunk);
        for (index, sequence) in sequences.into_iter().enumerate() {
            let (job, batch) = (job.clone(), &mut self.batch);
            // The job may have been cancelled already, or failed with its first sequence.
            match LiveSequence::join(sequence, job.clone(), index, batch, tokenizer, chunk) {
                Ok(sequence) => {
                    let (id, deadline) = (sequence.id, sequence.prepared.deadline);
                    self.of_jobs.insert((job.id, id));
                    self.deadlines.extend(deadline.map(|deadline| (deadline, id)));
                    self.sequences.insert(id, sequence);
                }
                Err(error) => job.fail(error),
            }
            self.end_if_over(job.id);
        }
    }

    /// Removes a sequence, from the batch too if it is still in there.
    fn remove(&mut self, id: SequenceId) -> Option<LiveSequence<'m>> {
        self.batch.leave(id);
        self.admitted.remove(&id);
        let sequence = self.sequences.remove(&id)?;
        self.of_jobs.remove(&(sequence.job.id, id));
        if let Some(deadline) = sequence.prepared.deadline {
            self.deadlines.remove(&(deadline, id));
        }
        Some(sequence)
    }

    fn answer_next(&mut self) {
        if let Some(call) = self.questions.pop_front().and_then(Callback::take) {
            // An answer that nobody takes may panic when it is dropped.
            let _ = panics::contain("an answer", || call(self.model, self.load()));
        }
    }

    /// Whether there is work without another command.
    fn is_busy(&self) -> bool {
        !self.questions.is_empty() || self.batch.has_work()
    }

    /// Sleeps until the next command or deadline.
    fn wait(&self) -> Option<Command<M>> {
        let received = match self.deadlines.first() {
            None => self.commands.recv().map_err(RecvTimeoutError::from),
            Some((deadline, _)) => {
                let time = deadline.saturating_duration_since(Instant::now());
                self.commands.recv_timeout(time)
            }
        };
        match received {
            Ok(command) => Some(command),
            Err(RecvTimeoutError::Timeout) => None,
            // All senders are gone.
            Err(RecvTimeoutError::Disconnected) => Some(Command::ShutDown),
        }
    }

    fn end_what_is_over(&mut self) {
        let now = Instant::now();
        while let Some(&(deadline, id)) = self.deadlines.first()
            && deadline <= now
        {
            self.end(id, FinishReason::Deadline);
        }
        let is_over = |id: &SequenceId| self.sequences[id].job.is_over();
        let over: Vec<_> = self.admitted.iter().copied().filter(is_over).collect();
        for id in over {
            self.end(id, FinishReason::Cancelled);
        }
    }

    /// Ends the sequences of `job`, if the job is over.
    fn end_if_over(&mut self, job: JobId) {
        let range = (job, SequenceId(0))..=(job, SequenceId(u64::MAX));
        let ids: Vec<_> = self.of_jobs.range(range).map(|&(_, id)| id).collect();
        let is_over = |id: &SequenceId| self.sequences[id].job.is_over();
        if ids.first().is_some_and(is_over) {
            for id in ids {
                if let Some(generation) = self.leave(id, FinishReason::Cancelled)
                    && let Some(sequence) = self.remove(id)
                {
                    sequence.end(generation);
                }
            }
        }
    }

    // ANCHOR: pause
    /// Back-pressure: a slow reader pauses only its own sequences. Those whose reader has caught up
    /// wait for a slot.
    fn pause_what_is_behind(&mut self) {
        for &id in &self.admitted {
            self.batch.set_paused(id, self.sequences[&id].job.is_behind());
        }
    }
    // ANCHOR_END: pause

    /// Runs one step: a token for every sequence that decodes, and one for each draft token that is
    /// accepted.
    fn step(&mut self) {
        let now = Instant::now();
        let events = match panics::contain("the model", || self.batch.step()) {
            Ok(events) => events,
            Err(error) => return self.start_over(&error),
        };
        self.settings.recorder.write(&self.batch.take_record());
        for decision in &self.batch.plan().decisions {
            if let Decision::Admitted { id, .. } = decision
                && let Some(sequence) = self.sequences.get_mut(id)
            {
                sequence.admit(now);
                self.admitted.insert(*id);
            }
        }
        let (mut tokens, mut failed) = (Vec::new(), Vec::new());
        for (id, event) in events {
            match event {
                Event::Token(output) => tokens.push((id, output)),
                Event::Finished(generation) => drop(self.finished.insert(id, generation)),
                Event::Failed(error) => failed.push((id, error)),
            }
        }
        for (id, output) in tokens {
            match self.push(id, output) {
                Ok(None) => {}
                Ok(Some(reason)) => self.end(id, reason),
                Err(error) => self.report(id, Err(error)),
            }
        }
        for (id, error) in failed {
            self.report(id, Err(error));
        }
        while let Some((id, generation)) = self.finished.pop_first() {
            self.report(id, Ok(generation));
        }
    }

    fn push(&mut self, id: SequenceId, output: TokenOutput) -> Result<Option<FinishReason>> {
        let Some(sequence) = self.sequences.get_mut(&id) else {
            return Ok(None);
        };
        // With its last token it has left the batch.
        let prefill = match self.finished.get(&id) {
            Some(generation) => (generation.cached_tokens, &*generation.prompt_logprobs),
            None => (self.batch.scheduler().cached_tokens(id), self.batch.prompt_logprobs(id)),
        };
        let was_drafted = self.batch.was_drafted(id, output.index);
        sequence.push(output, was_drafted, prefill)
    }

    /// Ends a sequence for a reason that the batch does not know.
    fn end(&mut self, id: SequenceId, reason: FinishReason) {
        if let Some(generation) = self.leave(id, reason) {
            self.report(id, Ok(generation));
        }
    }

    /// Takes a sequence out of the batch, with its output so far.
    fn leave(&mut self, id: SequenceId, reason: FinishReason) -> Option<Generation> {
        let generation = self.batch.leave(id).or_else(|| self.finished.remove(&id))?;
        Some(Generation { finish_reason: reason, ..generation })
    }

    /// Removes a sequence and reports its outcome to its job. If the job has failed with it, its
    /// other sequences end too.
    fn report(&mut self, id: SequenceId, outcome: Result<Generation>) {
        let Some(sequence) = self.remove(id) else {
            return;
        };
        let job = sequence.job.clone();
        match outcome {
            Ok(generation) => sequence.end(generation),
            Err(error) => job.fail(error),
        }
        self.end_if_over(job.id);
    }

    /// Fails all jobs after a panic that left the batch in an unknown state.
    fn start_over(&mut self, error: &Error) {
        self.before = self.stats();
        self.settings.recorder.end();
        self.batch = new_batch(self.pretrained, &self.settings);
        self.admitted.clear();
        self.of_jobs.clear();
        self.deadlines.clear();
        for sequence in std::mem::take(&mut self.sequences).into_values() {
            sequence.job.fail(Error::Device(DeviceError::Failed(error.to_string())));
        }
    }

    fn load(&self) -> Load {
        let scheduler = self.batch.scheduler();
        let (engine, prefix_cache) = self.stats();
        Load {
            running: scheduler.running(),
            paused: scheduler.suspended(),
            waiting: scheduler.queued(),
            kv_cache_bytes: self.batch.kv_cache_bytes(),
            kv_blocks: scheduler.blocks().counts(),
            kv_block_bytes: self.pretrained.model.kv_pool().block_bytes(),
            prefix_cache,
            engine,
        }
    }

    /// What was done since the start, by all batches.
    fn stats(&self) -> (EngineStats, PrefixStats) {
        let (scheduler, (engine, prefixes)) = (self.batch.scheduler(), self.before);
        (engine + scheduler.stats(), prefixes + scheduler.blocks().prefix_stats())
    }

    fn shut_down(mut self) {
        // Commands sent before the channel closes end in the same way.
        self.take_in(None);
        for (id, sequence) in std::mem::take(&mut self.sequences) {
            if let Some(generation) = self.leave(id, FinishReason::Shutdown) {
                sequence.end(generation);
            }
        }
        self.settings.recorder.write(&self.batch.take_record());
        self.settings.recorder.end();
    }
}

fn new_batch<'m>(pretrained: &'m Pretrained, settings: &Settings) -> Batch<'m> {
    let mut batch = Batch::with_config(&pretrained.model, settings.engine);
    batch.set_speculation(settings.speculation.clone());
    batch.choose_aside();
    batch
}
