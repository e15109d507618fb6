//! Admission to the queue: a semaphore that never blocks.

use std::sync::Arc;

use crate::error::{Error, Result, ServiceError};
use crate::sync::atomic::{AtomicUsize, Ordering};

/// The slots of the queue. Each taken slot belongs to a sequence that is queued or about to be.
pub(super) struct Semaphore {
    max_waiting: usize,
    waiting: AtomicUsize,
}

/// A slot of the queue, freed on drop.
pub(super) struct Permit(Arc<Semaphore>);

impl Semaphore {
    pub(super) fn new(max_waiting: usize) -> Arc<Self> {
        Arc::new(Self { max_waiting, waiting: AtomicUsize::new(0) })
    }

    /// Acquires `new` permits, or none of them.
    ///
    /// # Errors
    /// Fewer free slots than `new`.
    pub(super) fn acquire(self: &Arc<Self>, new: usize) -> Result<Vec<Permit>> {
        let max_waiting = self.max_waiting;
        let with_new = |waiting: usize| {
            let sum = waiting.checked_add(new)?;
            (sum <= max_waiting).then_some(sum)
        };
        self.waiting.try_update(Ordering::Relaxed, Ordering::Relaxed, with_new).map_err(
            |waiting| Error::Service(ServiceError::QueueFull { max_waiting, waiting, new }),
        )?;
        Ok((0..new).map(|_| Permit(self.clone())).collect())
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_as_there_may_be_and_a_job_gets_all_or_none() {
        let semaphore = Semaphore::new(3);
        let two = semaphore.acquire(2).unwrap();
        for new in [2, usize::MAX] {
            let Err(error) = semaphore.acquire(new) else {
                panic!("{new} more were let in");
            };
            let full = Error::Service(ServiceError::QueueFull { max_waiting: 3, waiting: 2, new });
            assert_eq!(error.to_string(), full.to_string());
        }
        let one = semaphore.acquire(1).unwrap();
        assert!(semaphore.acquire(1).is_err());
        drop((two, one));
        assert_eq!(semaphore.acquire(3).unwrap().len(), 3);
        assert_eq!(semaphore.acquire(3).unwrap().len(), 3, "these are free at once");
    }
}
