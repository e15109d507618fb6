//! The configuration of the CPU kernels: instruction set and threads.

use std::cell::RefCell;
use std::sync::{Arc, OnceLock};
use std::thread;

use super::disjoint::Disjoint;
use super::simd::Simd;
use super::threads::Threads;
use crate::error::{Error, RequestError, Result, ServiceError};

/// The instruction set and the threads of the kernels. Neither changes the bits of a result. A
/// clone shares the threads.
#[derive(Clone)]
pub struct Cpu {
    simd: Simd,
    threads: Arc<Threads>,
}

thread_local! {
    /// The [`Cpu`] of kernels that are called from this thread.
    static CURRENT: RefCell<Option<Cpu>> = const { RefCell::new(None) };
}

impl Cpu {
    /// Computes with `simd`, on `threads` threads, including the caller's.
    ///
    /// # Errors
    /// An instruction set that this processor lacks; 0 threads or more than 1024; a system that
    /// refuses to start them.
    pub fn new(simd: Simd, threads: usize) -> Result<Self> {
        /// More than any machine needs: a larger number is a mistake, with an error of its own.
        const MOST: usize = 1024;
        if !simd.is_available() {
            return Err(RequestError::Parameter {
                name: "simd",
                value: simd.to_string(),
                allowed: "an instruction set of this processor (`auto` takes the widest)",
            }
            .into());
        }
        if !(1..=MOST).contains(&threads) {
            return Err(RequestError::Parameter {
                name: "threads",
                value: threads.to_string(),
                allowed: "from 1 to 1024",
            }
            .into());
        }
        let refused = |error: std::io::Error| {
            Error::Service(ServiceError::Threads { reason: error.to_string() })
        };
        let threads = Threads::new(threads).map_err(refused)?;
        Ok(Self { simd, threads: Arc::new(threads) })
    }

    /// The widest instruction set of this processor, and one thread per core. All callers share the
    /// threads.
    ///
    /// # Errors
    /// A system that refuses to start threads.
    pub fn shared() -> Result<Self> {
        static SHARED: OnceLock<Cpu> = OnceLock::new();
        if let Some(cpu) = SHARED.get() {
            return Ok(cpu.clone());
        }
        let cpu = Self::new(Simd::detect(), Self::cores())?;
        Ok(SHARED.get_or_init(|| cpu).clone())
    }

    /// How many cores this process may use.
    pub fn cores() -> usize {
        thread::available_parallelism().map_or(1, usize::from)
    }

    /// The instruction set.
    pub fn simd(&self) -> Simd {
        self.simd
    }

    /// How many threads share the work.
    pub fn threads(&self) -> usize {
        self.threads.count()
    }

    /// Runs `work` with this as the current [`Cpu`] of its kernels.
    pub fn enter<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Restores the previous `Cpu`, also where `work` panics.
        struct Reset(Option<Cpu>);
        impl Drop for Reset {
            fn drop(&mut self) {
                CURRENT.set(self.0.take());
            }
        }
        let _reset = Reset(CURRENT.replace(Some(self.clone())));
        work()
    }

    /// The [`Cpu`] that was entered last, or else the shared one, or else this thread alone.
    pub fn current() -> Self {
        let alone = || Self { simd: Simd::detect(), threads: Arc::new(Threads::none()) };
        let current = CURRENT.with_borrow(Option::clone);
        current.unwrap_or_else(|| Self::shared().unwrap_or_else(|_| alone()))
    }

    /// Calls `work` once with each of `items`, on all threads.
    pub(crate) fn for_each_of<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync) {
        let cells = Disjoint::new(items);
        self.for_each(cells.len(), |i| {
            // SAFETY: each number is given to one call, so no two have the same item.
            work(&mut unsafe { cells.part(i..i + 1) }[0]);
        });
    }

    /// Calls `work` once with every number below `tasks`, on all threads.
    pub(super) fn for_each(&self, tasks: usize, work: impl Fn(usize) + Sync) {
        self.threads.for_each(tasks, &work);
    }
}

impl std::fmt::Debug for Cpu {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Cpu({}, {} threads)", self.simd, self.threads())
    }
}
