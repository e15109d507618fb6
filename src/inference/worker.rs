//! The thread of the model: one running batch for the sequences of all jobs.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Instant;

use super::accessor::Start;
use super::job::RunningJob;
use super::sequence::{Sequence, Waiting};
use super::{FinishReason, Load};
use crate::error::{Error, Result};
use crate::generate::{Batch, Event, SequenceId, TokenOutput};
use crate::panics;
use crate::pretrained::Pretrained;

thread_local! {
    /// Whether this is the thread of a model.
    static IS_MODEL_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread may wait for a model. A callback runs in the model's thread: to wait
/// there for its own model would be to wait for ever.
///
/// # Errors
/// The thread of a model, of this one or of another.
pub(super) fn check_may_wait() -> Result<()> {
    match IS_MODEL_THREAD.get() {
        true => Err(Error::WaitInModelThread),
        false => Ok(()),
    }
}

/// What the thread is asked to do.
pub(super) enum Command<M> {
    /// Take in the sequences of a job.
    Run(Arc<RunningJob>, Vec<Start>),
    /// Do something else with the model, between two steps.
    Call(Box<dyn FnOnce(&M) + Send>),
    /// Tell how much there is to do.
    Load(SyncSender<Load>),
    /// Look again: a job was cancelled, or a reader has caught up.
    Wake,
    /// End everything, and return.
    ShutDown,
}

/// What the thread keeps.
pub(super) struct Worker<'m, M> {
    model: &'m M,
    pretrained: &'m Pretrained,
    commands: Receiver<Command<M>>,
    batch: Batch<'m>,
    waiting: VecDeque<Waiting>,
    running: Vec<Sequence<'m>>,
    max_running: usize,
}

impl<'m, M> Worker<'m, M> {
    pub(super) fn new(
        model: &'m M,
        pretrained: &'m Pretrained,
        commands: Receiver<Command<M>>,
        max_running: usize,
    ) -> Self {
        Self {
            model,
            pretrained,
            commands,
            batch: Batch::new(&pretrained.model),
            waiting: VecDeque::new(),
            running: Vec::new(),
            max_running,
        }
    }

    /// Works until it is told to shut down.
    // ANCHOR: run
    pub(super) fn run(mut self) {
        IS_MODEL_THREAD.set(true);
        while self.take_commands() {
            self.end_what_is_over();
            self.pause_what_is_behind();
            self.admit();
            self.step();
        }
        self.shut_down();
    }
    // ANCHOR_END: run

    /// Does what it is asked to, and waits for that where there is nothing else to do. False
    /// when it was told to shut down.
    fn take_commands(&mut self) -> bool {
        let mut command = match self.is_busy() {
            true => self.commands.try_recv().ok(),
            false => self.wait(),
        };
        while let Some(next) = command {
            match next {
                Command::Run(job, starts) => {
                    let sequences = starts.into_iter().enumerate();
                    self.waiting.extend(sequences.map(|(place, start)| {
                        let job = job.clone();
                        Waiting { job, place, start }
                    }));
                }
                // A call contains its own panics.
                Command::Call(call) => call(self.model),
                Command::Load(answer) => {
                    self.end_what_is_over();
                    let _ = answer.send(self.load());
                }
                Command::Wake => {}
                Command::ShutDown => return false,
            }
            command = self.commands.try_recv().ok();
        }
        true
    }

    /// Whether there is something to do without another command.
    fn is_busy(&self) -> bool {
        let now = Instant::now();
        let is_busy =
            |sequence: &Sequence<'_>| !sequence.job.is_behind() || sequence.over(now).is_some();
        !self.waiting.is_empty() || self.running.iter().any(is_busy)
    }

    /// Sleeps until the next command, or until the next deadline of a sequence that waits for
    /// its reader.
    fn wait(&self) -> Option<Command<M>> {
        let deadline = self.running.iter().filter_map(Sequence::deadline).min();
        let received = match deadline {
            None => self.commands.recv().map_err(RecvTimeoutError::from),
            Some(deadline) => {
                let time = deadline.saturating_duration_since(Instant::now());
                self.commands.recv_timeout(time)
            }
        };
        match received {
            Ok(command) => Some(command),
            Err(RecvTimeoutError::Timeout) => None,
            // Nobody is left who could ask for anything.
            Err(RecvTimeoutError::Disconnected) => Some(Command::ShutDown),
        }
    }

    fn end_what_is_over(&mut self) {
        let now = Instant::now();
        for waiting in std::mem::take(&mut self.waiting) {
            match waiting.over(now) {
                Some(reason) => waiting.end(reason),
                None => self.waiting.push_back(waiting),
            }
        }
        let over = |sequence: &Sequence<'_>| Some((sequence.id, sequence.over(now)?));
        let over: Vec<_> = self.running.iter().filter_map(over).collect();
        for (id, reason) in over {
            self.end(id, Ok(reason));
        }
    }

    // ANCHOR: pause
    /// A slow reader slows only itself: its sequences sit out until it has caught up.
    fn pause_what_is_behind(&mut self) {
        for sequence in &self.running {
            self.batch.set_paused(sequence.id, sequence.job.is_behind());
        }
    }
    // ANCHOR_END: pause

    /// Lets those in that came first. Sequences that are paused hold up nobody: they take
    /// memory but no time.
    fn admit(&mut self) {
        let is_running = |sequence: &&Sequence<'_>| !sequence.job.is_behind();
        let mut running = self.running.iter().filter(is_running).count();
        while running < self.max_running {
            let Some(next) = self.waiting.pop_front() else {
                return;
            };
            if let Some(sequence) = next.join(&mut self.batch, &self.pretrained.tokenizer) {
                self.running.push(sequence);
                running += 1;
            }
        }
    }

    /// One token for everyone.
    fn step(&mut self) {
        let events = match panics::contain("the model", || self.batch.step()) {
            Ok(events) => events,
            Err(error) => return self.start_over(&error),
        };
        for (id, event) in events {
            match event {
                Event::Token { index, id: token, logprobs } => {
                    let output = TokenOutput::without_text(index, token, logprobs);
                    match self.push(id, output) {
                        Ok(None) => {}
                        Ok(Some(reason)) => self.end(id, Ok(reason)),
                        Err(error) => self.end(id, Err(error)),
                    }
                }
                Event::Finished(found) => self.end(id, Ok(found.finish_reason.into())),
                Event::Failed(error) => self.end(id, Err(error)),
            }
        }
    }

    fn push(&mut self, id: SequenceId, output: TokenOutput) -> Result<Option<FinishReason>> {
        match self.running.iter_mut().find(|sequence| sequence.id == id) {
            Some(sequence) => sequence.push(output),
            None => Ok(None),
        }
    }

    /// Takes a sequence out, wherever it still is, and tells its job.
    fn end(&mut self, id: SequenceId, outcome: Result<FinishReason>) {
        self.batch.leave(id);
        let Some(place) = self.running.iter().position(|sequence| sequence.id == id) else {
            return;
        };
        let sequence = self.running.remove(place);
        match outcome {
            Ok(reason) => sequence.end(reason),
            Err(error) => sequence.fail(error),
        }
    }

    /// The device panicked in the middle of a step: nobody knows what is in the caches.
    fn start_over(&mut self, error: &Error) {
        self.batch = Batch::new(&self.pretrained.model);
        for sequence in self.running.drain(..) {
            sequence.fail(Error::Device(error.to_string()));
        }
    }

    fn load(&self) -> Load {
        let paused = self.running.iter().filter(|sequence| sequence.job.is_behind()).count();
        Load {
            running: self.running.len() - paused,
            paused,
            waiting: self.waiting.len(),
            kv_cache_bytes: self.batch.kv_cache_bytes(),
        }
    }

    fn shut_down(self) {
        // What was sent before the thread has gone ends in the same way.
        while let Ok(command) = self.commands.try_recv() {
            if let Command::Run(job, starts) = command {
                for (place, start) in starts.into_iter().enumerate() {
                    Waiting { job: job.clone(), place, start }.end(FinishReason::Shutdown);
                }
            }
        }
        for waiting in self.waiting {
            waiting.end(FinishReason::Shutdown);
        }
        for sequence in self.running {
            sequence.end(FinishReason::Shutdown);
        }
    }
}
