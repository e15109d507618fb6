//! A thread pool that runs one job at a time.
//!
//! A decode step runs about a hundred jobs, of microseconds each. Waking a sleeping thread takes
//! longer than that, so the workers spin-wait for a while before they sleep.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{hint, io, ptr};

/// How long a worker spin-waits for the next job before it sleeps. The work between two forward
/// passes, mostly sampling, is shorter.
const SPIN: Duration = Duration::from_micros(200);

/// The calling thread and its workers.
pub(super) struct Threads {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// Held during a job, so that there is one at a time.
    caller: Mutex<()>,
}

struct Shared {
    /// The current job, or null.
    job: AtomicPtr<Job<'static>>,
    /// The number of jobs so far.
    epoch: AtomicUsize,
    /// How many workers may hold a reference to the job.
    inside: AtomicUsize,
    asleep: AtomicUsize,
    /// Protects no data, only the wait on `wake`.
    sleep: Mutex<()>,
    wake: Condvar,
    ended: AtomicBool,
}

struct Job<'a> {
    work: &'a (dyn Fn(usize) + Sync),
    tasks: usize,
    next: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Threads {
    /// No workers: the caller's thread does all work.
    pub(super) fn none() -> Self {
        let shared = Arc::new(Shared {
            job: AtomicPtr::new(ptr::null_mut()),
            epoch: AtomicUsize::new(0),
            inside: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            sleep: Mutex::new(()),
            wake: Condvar::new(),
            ended: AtomicBool::new(false),
        });
        Self { shared, workers: Vec::new(), caller: Mutex::new(()) }
    }

    /// `count` threads, including the caller's.
    ///
    /// # Errors
    /// A system that refuses to start threads.
    pub(super) fn new(count: usize) -> io::Result<Self> {
        // Dropped on an error, `threads` ends the workers that were started before.
        let mut threads = Self::none();
        for _ in 1..count {
            let shared = threads.shared.clone();
            let worker = thread::Builder::new().name("slowburn kernel".to_owned());
            threads.workers.push(worker.spawn(move || shared.work())?);
        }
        Ok(threads)
    }

    /// The number of threads, including the caller's.
    pub(super) fn count(&self) -> usize {
        self.workers.len() + 1
    }

    /// Calls `work` once with every number below `tasks`, on all threads. Returns when all calls
    /// have. While the workers are busy for another caller, this thread runs all tasks itself.
    pub(super) fn for_each(&self, tasks: usize, work: &(dyn Fn(usize) + Sync)) {
        let alone = tasks <= 1 || self.workers.is_empty();
        let Some(_guard) = (!alone).then(|| self.try_lock()).flatten() else {
            return (0..tasks).for_each(work);
        };
        let job = Job {
            work,
            tasks,
            next: AtomicUsize::new(0),
            panic: Mutex::new(None),
        };
        self.shared.publish(&job);
        job.run();
        self.shared.retract();
        if let Some(panic) = job.panic.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(panic);
        }
    }

    fn try_lock(&self) -> Option<MutexGuard<'_, ()>> {
        match self.caller.try_lock() {
            Ok(guard) => Some(guard),
            // The mutex protects no data, so a panic leaves nothing inconsistent.
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.shared.ended.store(true, SeqCst);
        self.shared.wake_all();
        for worker in self.workers.drain(..) {
            // A worker catches the panics of the work.
            let _ = worker.join();
        }
    }
}

impl Shared {
    fn publish(&self, job: &Job<'_>) {
        self.job.store(ptr::from_ref(job).cast_mut().cast(), SeqCst);
        self.epoch.fetch_add(1, SeqCst);
        if self.asleep.load(SeqCst) > 0 {
            self.wake_all();
        }
    }

    /// Returns when no worker holds a reference to the job.
    fn retract(&self) {
        self.job.store(ptr::null_mut(), SeqCst);
        while self.inside.load(SeqCst) > 0 {
            hint::spin_loop();
        }
    }

    fn wake_all(&self) {
        // With the lock held, no worker is between its check for work and its wait.
        let _guard = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
        self.wake.notify_all();
    }

    /// The main loop of a worker.
    fn work(&self) {
        let mut seen = 0;
        while let Some(epoch) = self.next_epoch(seen) {
            seen = epoch;
            self.inside.fetch_add(1, SeqCst);
            // SAFETY: the caller keeps the job alive until `retract` has stored null and then seen
            // `inside` at zero. Here `inside` is raised before the pointer is read, so either the
            // pointer is null or the caller still waits.
            if let Some(job) = unsafe { self.job.load(SeqCst).as_ref() } {
                job.run();
            }
            self.inside.fetch_sub(1, SeqCst);
        }
    }

    /// Waits for a job after epoch `seen`. None when the pool ends.
    fn next_epoch(&self, seen: usize) -> Option<usize> {
        let start = Instant::now();
        loop {
            for _ in 0..32 {
                if self.ended.load(SeqCst) {
                    return None;
                }
                let epoch = self.epoch.load(SeqCst);
                if epoch != seen {
                    return Some(epoch);
                }
                hint::spin_loop();
            }
            if start.elapsed() > SPIN {
                self.sleep_after(seen);
            }
        }
    }

    fn sleep_after(&self, seen: usize) {
        self.asleep.fetch_add(1, SeqCst);
        let mut guard = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
        while self.epoch.load(SeqCst) == seen && !self.ended.load(SeqCst) {
            guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, SeqCst);
    }
}

impl Job<'_> {
    /// Takes one task after the other until none is left.
    fn run(&self) {
        loop {
            let task = self.next.fetch_add(1, SeqCst);
            if task >= self.tasks {
                return;
            }
            let outcome = catch_unwind(AssertUnwindSafe(|| (self.work)(task)));
            if let Err(panic) = outcome {
                let mut first = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert(panic);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_done_once() {
        for count in [1, 2, 4] {
            let threads = Threads::new(count).unwrap();
            for tasks in [0, 1, 2, 3, 100] {
                for _ in 0..100 {
                    let done: Vec<_> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
                    threads.for_each(tasks, &|task| {
                        done[task].fetch_add(1, SeqCst);
                    });
                    assert!(done.iter().all(|done| done.load(SeqCst) == 1));
                }
            }
        }
    }

    #[test]
    fn several_callers_may_come_at_once() {
        let threads = Threads::new(3).unwrap();
        let sum = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        threads.for_each(4, &|task| {
                            sum.fetch_add(task, SeqCst);
                        });
                    }
                });
            }
        });
        assert_eq!(sum.into_inner(), 4 * 1000 * 6);
    }

    #[test]
    fn sleepers_are_woken() {
        let threads = Threads::new(2).unwrap();
        for _ in 0..5 {
            thread::sleep(5 * SPIN);
            threads.for_each(2, &|_| {});
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_ends_nothing_else() {
        let threads = Threads::new(2).unwrap();
        for _ in 0..10 {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                threads.for_each(8, &|task| assert_ne!(task, 5, "task 5"));
            }));
            assert!(caught.is_err());
            threads.for_each(8, &|_| {});
        }
    }
}
