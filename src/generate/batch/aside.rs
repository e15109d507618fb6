//! Threads that choose the tokens of texts under a constraint, next to the steps.
//!
//! What a grammar allows next may take longer to find out than a step. The sequence that asks for it waits
//! then, and not the others.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::AHEAD;
use super::sequence_step::SequenceStep;
use crate::constrained::Cancel;
use crate::engine::SequenceId;
use crate::error::{Result, ServiceError};
use crate::{panics, priority};

/// The threads. They end with this, each after what it works at, which is given up.
pub(super) struct Aside(Arc<Shared>);

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
    /// Those that wait for a thread.
    waiting: BTreeMap<SequenceId, SequenceStep>,
    /// The same by the time that each took last: who asks for little does not wait for those who ask for
    /// much.
    order: BTreeSet<(Duration, SequenceId)>,
    /// Those that a thread works at.
    running: HashMap<SequenceId, Cancel>,
    done: Vec<SequenceStep>,
    /// How long each took last.
    took: HashMap<SequenceId, Duration>,
    has_ended: bool,
}

impl Aside {
    /// As many threads as there are cores.
    ///
    /// # Errors
    /// A system that refuses to start threads.
    pub(super) fn new() -> Result<Self> {
        let aside = Self(Arc::default());
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            let shared = aside.0.clone();
            thread::Builder::new()
                .name("slowburn grammar".to_owned())
                .spawn(move || shared.run())
                .map_err(ServiceError::Thread)?;
        }
        Ok(aside)
    }

    /// Hands over a sequence.
    pub(super) fn start(&self, step: SequenceStep) {
        let mut work = self.0.lock();
        let took = work.took.get(&step.id).copied().unwrap_or_default();
        work.order.insert((took, step.id));
        work.waiting.insert(step.id, step);
        self.0.to_do.notify_one();
    }

    /// Those that are done, in the order of their ids. Waits for these up to `patience`.
    pub(super) fn finish(&self, these: &[SequenceId], patience: Duration) -> Vec<SequenceStep> {
        let until = Instant::now() + patience;
        let mut work = self.0.lock();
        while these.iter().any(|id| work.is_away(id)) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            work = self.0.wait(work, left);
        }
        let mut done = std::mem::take(&mut work.done);
        done.sort_by_key(|step| step.id);
        done
    }

    /// Waits up to `patience` until one is done, if there is any.
    pub(super) fn wait(&self, patience: Duration) {
        let work = self.0.lock();
        if work.done.is_empty() && work.len() > 0 {
            drop(self.0.wait(work, patience));
        }
    }

    /// The number of sequences that were handed over.
    pub(super) fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// Takes back a sequence, whose work is given up. None for one that is not here.
    pub(super) fn take_back(&self, id: SequenceId) -> Option<SequenceStep> {
        let mut work = self.0.lock();
        if let Some(took) = work.took.remove(&id) {
            work.order.remove(&(took, id));
        }
        work.order.remove(&(Duration::ZERO, id));
        if let Some(step) = work.waiting.remove(&id) {
            return Some(step);
        }
        while let Some(cancel) = work.running.get(&id) {
            cancel.cancel();
            work = self.0.done.wait(work).unwrap_or_else(PoisonError::into_inner);
        }
        work.took.remove(&id);
        let place = work.done.iter().position(|step| step.id == id)?;
        Some(work.done.swap_remove(place))
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        let mut work = self.0.lock();
        work.has_ended = true;
        work.running.values().for_each(Cancel::cancel);
        self.0.to_do.notify_all();
    }
}

impl Work {
    fn is_away(&self, id: &SequenceId) -> bool {
        self.waiting.contains_key(id) || self.running.contains_key(id)
    }

    fn len(&self) -> usize {
        self.waiting.len() + self.running.len() + self.done.len()
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
        while let Some(mut step) = self.next() {
            let start = Instant::now();
            // What panics there is contained already, but for a bug.
            if let Err(panic) = panics::contain("a sampler", || step.take_aside(AHEAD)) {
                step.fail(panic);
            }
            let mut work = self.lock();
            work.running.remove(&step.id);
            work.took.insert(step.id, start.elapsed());
            work.done.push(step);
            drop(work);
            self.done.notify_all();
        }
    }

    /// The next sequence. None at the end.
    fn next(&self) -> Option<SequenceStep> {
        let mut work = self.lock();
        loop {
            if work.has_ended {
                return None;
            }
            if let Some((_, id)) = work.order.pop_first()
                && let Some(step) = work.waiting.remove(&id)
            {
                work.running.insert(id, step.state.canceller());
                return Some(step);
            }
            work = self.to_do.wait(work).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
