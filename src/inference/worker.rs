//! The model thread: one batch for the sequences of all jobs.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use super::command::{Command, Question};
use super::job::{JobId, RunningJob};
use super::limits::Limits;
use super::model_thread;
use super::queue::Queue;
use super::sequence::RunningSequence;
use super::waiting::WaitingSequence;
use super::{FinishReason, Load};
use crate::engine::SequenceId;
use crate::error::{Error, Result};
use crate::generate::{Batch, Event, TokenOutput};
use crate::panics;
use crate::pretrained::Pretrained;

/// The most commands to take between two steps, so that a busy sender cannot delay the step.
const AT_ONCE: usize = 1024;

/// The state of the model thread.
pub(super) struct Worker<'m, M> {
    model: &'m M,
    pretrained: &'m Pretrained,
    commands: Receiver<Command<M>>,
    questions: VecDeque<Question<M>>,
    waiting: Queue,
    /// The sequences in the batch, in the order in which they joined.
    sequences: Vec<RunningSequence<'m>>,
    batch: Batch<'m>,
    limits: Limits,
}

impl<'m, M> Worker<'m, M> {
    pub(super) fn new(
        model: &'m M,
        pretrained: &'m Pretrained,
        commands: Receiver<Command<M>>,
        limits: Limits,
    ) -> Self {
        Self {
            model,
            pretrained,
            commands,
            questions: VecDeque::new(),
            waiting: Queue::default(),
            sequences: Vec::new(),
            batch: Batch::new(&pretrained.model),
            limits,
        }
    }

    /// Runs until shutdown.
    // ANCHOR: run
    pub(super) fn run(mut self) {
        model_thread::enter();
        while self.take_commands() {
            self.end_what_is_over();
            self.pause_what_is_behind();
            self.admit();
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
                Command::Run(sequences) => self.enqueue(sequences),
                Command::Ask(question) => self.questions.push_back(question),
                Command::LookAt(job) => self.end_waiting(job),
                Command::ShutDown => goes_on = false,
            }
        }
        goes_on
    }

    fn enqueue(&mut self, sequences: Vec<WaitingSequence>) {
        let job = sequences.first().map(|waiting| waiting.job.id);
        sequences.into_iter().for_each(|waiting| self.waiting.push(waiting));
        // The job may have been cancelled before it was queued.
        job.into_iter().for_each(|job| self.end_waiting(job));
    }

    fn answer_next(&mut self) {
        match self.questions.pop_front() {
            Some(Question::Call(call)) => call.run(self.model),
            Some(Question::Load(answer)) => drop(answer.send(self.load())),
            None => {}
        }
    }

    /// Whether there is work without another command.
    fn is_busy(&self) -> bool {
        let now = Instant::now();
        let is_busy = |sequence: &RunningSequence<'_>| {
            !sequence.job.is_behind() || sequence.over(now).is_some()
        };
        !self.questions.is_empty()
            || (!self.waiting.is_empty() && self.has_room())
            || self.sequences.iter().any(is_busy)
    }

    /// Sleeps until the next command or deadline.
    fn wait(&self) -> Option<Command<M>> {
        let deadlines = self.sequences.iter().filter_map(RunningSequence::deadline);
        let received = match deadlines.chain(self.waiting.deadline()).min() {
            None => self.commands.recv().map_err(RecvTimeoutError::from),
            Some(deadline) => {
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
        while let Some(waiting) = self.waiting.pop_late(now) {
            waiting.end(FinishReason::Deadline);
        }
        let over = |sequence: &RunningSequence<'_>| Some((sequence.id, sequence.over(now)?));
        let over: Vec<_> = self.sequences.iter().filter_map(over).collect();
        for (id, reason) in over {
            self.end(id, Ok(reason));
        }
    }

    /// Ends the queued sequences of `job`, if the job is over.
    fn end_waiting(&mut self, job: JobId) {
        while let Some(waiting) = self.waiting.pop_over(job) {
            waiting.end(FinishReason::Cancelled);
        }
    }

    // ANCHOR: pause
    /// Back-pressure: a slow reader pauses only its own sequences. If more sequences are ready than
    /// may run, those that joined first run.
    fn pause_what_is_behind(&mut self) {
        let mut running = 0;
        for sequence in &self.sequences {
            let runs = running < self.limits.max_running && !sequence.job.is_behind();
            self.batch.set_paused(sequence.id, !runs);
            running += usize::from(runs);
        }
    }
    // ANCHOR_END: pause

    /// The number of sequences whose reader is not behind.
    fn ready(&self) -> usize {
        self.sequences.iter().filter(|sequence| !sequence.job.is_behind()).count()
    }

    /// Whether the batch may hold one more KV cache.
    fn has_room(&self) -> bool {
        self.sequences.len() < self.limits.max_in_batch()
    }

    /// Admits queued sequences in order. Paused sequences do not count as running: they take memory
    /// but no compute.
    fn admit(&mut self) {
        let mut ready = self.ready();
        while ready < self.limits.max_running && self.has_room() {
            let Some(next) = self.waiting.pop() else {
                return;
            };
            let job = next.job.clone();
            let (tokenizer, chunk) = (&self.pretrained.tokenizer, self.limits.chunk);
            match RunningSequence::join(next, &mut self.batch, tokenizer, chunk) {
                Ok(sequence) => {
                    self.sequences.push(sequence);
                    ready += 1;
                }
                Err(error) => self.fail(&job, error),
            }
        }
    }

    /// Runs one step: a token for every running sequence.
    fn step(&mut self) {
        let events = match panics::contain("the model", || self.batch.step()) {
            Ok(events) => events,
            Err(error) => return self.start_over(&error),
        };
        for (id, event) in events {
            match event {
                Event::Token(output) => match self.push(id, output) {
                    Ok(None) => {}
                    Ok(Some(reason)) => self.end(id, Ok(reason)),
                    Err(error) => self.end(id, Err(error)),
                },
                Event::Finished(found) => self.end(id, Ok(found.finish_reason)),
                Event::Failed(error) => self.end(id, Err(error)),
            }
        }
    }

    fn push(&mut self, id: SequenceId, output: TokenOutput) -> Result<Option<FinishReason>> {
        match self.position(id) {
            Some(index) => self.sequences[index].push(output),
            None => Ok(None),
        }
    }

    /// Removes a sequence from the batch and reports its outcome to its job.
    fn end(&mut self, id: SequenceId, outcome: Result<FinishReason>) {
        self.batch.leave(id);
        let Some(index) = self.position(id) else {
            return;
        };
        let sequence = self.sequences.remove(index);
        let job = sequence.job.clone();
        match outcome {
            Ok(reason) => sequence.end(reason),
            Err(error) => job.fail(error),
        }
        self.end_waiting(job.id);
    }

    /// Fails a job and ends its queued sequences.
    fn fail(&mut self, job: &RunningJob, error: Error) {
        job.fail(error);
        self.end_waiting(job.id);
    }

    /// The index of a sequence. The list is sorted, because ids grow in the order of joining.
    fn position(&self, id: SequenceId) -> Option<usize> {
        self.sequences.binary_search_by_key(&id, |sequence| sequence.id).ok()
    }

    /// Fails all running jobs after a device panic, which leaves the KV caches in an unknown state.
    fn start_over(&mut self, error: &Error) {
        self.batch = Batch::new(&self.pretrained.model);
        for sequence in std::mem::take(&mut self.sequences) {
            self.fail(&sequence.job, Error::Device(error.to_string()));
        }
    }

    fn load(&self) -> Load {
        let running = self.ready().min(self.limits.max_running);
        Load {
            running,
            paused: self.sequences.len() - running,
            waiting: self.waiting.len(),
            kv_cache_bytes: self.batch.kv_cache_bytes(),
        }
    }

    fn shut_down(mut self) {
        // Commands sent before the channel closes end in the same way.
        self.take_in(None);
        while let Some(waiting) = self.waiting.pop() {
            waiting.end(FinishReason::Shutdown);
        }
        for sequence in self.sequences {
            sequence.end(FinishReason::Shutdown);
        }
    }
}
