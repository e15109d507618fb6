//! Threads that choose the tokens of texts under a constraint, next to the steps.
//!
//! What a grammar allows next may take longer to find out than a step. The sequence that asks for it waits
//! then, and not the others.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::AHEAD;
use super::sequence::Sequence;
use super::turns::Turns;
use crate::constrained::{Cancel, ConstraintId};
use crate::engine::SequenceId;
use crate::error::{Result, ServiceError};
use crate::{panics, priority};

/// The threads. They end with this, each after what it works at, which is given up.
pub(super) struct Aside {
    shared: Arc<Shared>,
    threads: usize,
}

/// Of a constraint whose tokens take more time than this on average, few texts are begun at a time.
const FAST: Duration = Duration::from_millis(5);

#[derive(Default)]
struct Shared {
    work: Mutex<Work>,
    /// There is something to do, or nothing ever again.
    to_do: Condvar,
    /// Something is done.
    done: Condvar,
}

#[derive(Default)]
struct Work {
    /// Those that were handed over.
    tasks: BTreeMap<SequenceId, Task>,
    /// Who is next of those that wait.
    turns: Turns,
    has_ended: bool,
}

enum Task {
    Waiting(Sequence),
    /// A thread works at it.
    Running(Cancel),
    Done(Sequence),
}

impl Aside {
    /// As many threads as there are cores.
    ///
    /// # Errors
    /// A system that refuses to start threads.
    pub(super) fn new() -> Result<Self> {
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let aside = Self { shared: Arc::default(), threads };
        for _ in 0..threads {
            let shared = aside.shared.clone();
            thread::Builder::new()
                .name("slowburn grammar".to_owned())
                .spawn(move || shared.run())
                .map_err(ServiceError::Thread)?;
        }
        Ok(aside)
    }

    /// The number of threads.
    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// Hands over a sequence.
    pub(super) fn start(&self, sequence: Sequence) {
        let mut work = self.shared.lock();
        if let Some(constraint) = sequence.state.constraint_aside() {
            work.turns.wait(constraint, sequence.id);
        }
        work.tasks.insert(sequence.id, Task::Waiting(sequence));
        self.shared.to_do.notify_one();
    }

    /// Whether it is known that the tokens of a constraint take little time.
    pub(super) fn is_fast(&self, constraint: ConstraintId) -> bool {
        self.shared.lock().turns.cost(constraint).is_some_and(|cost| cost <= FAST)
    }

    /// How many texts of a constraint wait for a thread.
    pub(super) fn waiting(&self, constraint: ConstraintId) -> usize {
        self.shared.lock().turns.waiting(constraint)
    }

    /// Forgets what the texts of a constraint took.
    pub(super) fn forget(&self, constraint: ConstraintId) {
        self.shared.lock().turns.forget(constraint);
    }

    /// Those that are done, in the order of their ids. Waits for these up to `patience`.
    pub(super) fn finish(&self, these: &[SequenceId], patience: Duration) -> Vec<Sequence> {
        let until = Instant::now() + patience;
        let mut work = self.shared.lock();
        while these.iter().any(|id| work.tasks.get(id).is_some_and(|task| !task.is_done())) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            work = self.shared.wait(work, left);
        }
        let done = work.tasks.extract_if(.., |_, task| task.is_done());
        done.filter_map(|(_, task)| task.into_sequence()).collect()
    }

    /// Waits up to `patience` until one is done, if there is any.
    pub(super) fn wait(&self, patience: Duration) {
        let work = self.shared.lock();
        if !work.tasks.is_empty() && !work.tasks.values().any(Task::is_done) {
            drop(self.shared.wait(work, patience));
        }
    }

    /// The number of sequences that were handed over.
    pub(super) fn len(&self) -> usize {
        self.shared.lock().tasks.len()
    }

    /// Takes back a sequence, whose work is given up. None for one that is not here.
    pub(super) fn take_back(&self, id: SequenceId) -> Option<Sequence> {
        let mut work = self.shared.lock();
        work.turns.leave(id);
        while let Some(Task::Running(cancel)) = work.tasks.get(&id) {
            cancel.cancel();
            work = self.shared.done.wait(work).unwrap_or_else(PoisonError::into_inner);
        }
        work.tasks.remove(&id)?.into_sequence()
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        let mut work = self.shared.lock();
        work.has_ended = true;
        for task in work.tasks.values() {
            if let Task::Running(cancel) = task {
                cancel.cancel();
            }
        }
        self.shared.to_do.notify_all();
    }
}

impl Task {
    fn is_done(&self) -> bool {
        matches!(self, Self::Done(_))
    }

    fn into_sequence(self) -> Option<Sequence> {
        match self {
            Self::Waiting(sequence) | Self::Done(sequence) => Some(sequence),
            Self::Running(_) => None,
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, work: MutexGuard<'a, Work>, patience: Duration) -> MutexGuard<'a, Work> {
        let waited = self.done.wait_timeout(work, patience);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn run(&self) {
        priority::lower();
        while let Some(mut sequence) = self.next() {
            let start = priority::time();
            // What panics there is contained already, but for a bug.
            if let Err(panic) = panics::contain("a sampler", || sequence.take_aside(AHEAD)) {
                sequence.fail(panic);
            }
            let took = priority::time().saturating_sub(start);
            let mut work = self.lock();
            // What was given up says nothing of the others.
            if let Some(constraint) = sequence.state.constraint_aside()
                && sequence.end.is_ok()
            {
                work.turns.count(constraint, took);
            }
            work.tasks.insert(sequence.id, Task::Done(sequence));
            drop(work);
            self.done.notify_all();
        }
    }

    /// The next sequence. None at the end.
    fn next(&self) -> Option<Sequence> {
        let mut work = self.lock();
        loop {
            if work.has_ended {
                return None;
            }
            if let Some(id) = work.turns.next()
                && let Some(Task::Waiting(sequence)) = work.tasks.remove(&id)
            {
                work.tasks.insert(id, Task::Running(sequence.state.canceller()));
                return Some(sequence);
            }
            work = self.to_do.wait(work).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
