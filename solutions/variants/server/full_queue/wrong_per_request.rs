//! `Retry-After` is per_slot, whatever is missing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[derive(Debug)]
pub struct Queue {
    capacity: usize,
    used: Arc<Mutex<usize>>,
}

#[derive(Debug)]
pub struct Slots {
    count: usize,
    used: Arc<Mutex<usize>>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    Full { retry_after: u64 },
    TooLarge,
}

impl Queue {
    pub fn new(capacity: usize) -> Self {
        Self { capacity, used: Arc::default() }
    }

    pub fn free(&self) -> usize {
        self.capacity - *lock(&self.used)
    }

    pub fn admit(&self, sequences: usize, per_slot: Duration) -> Result<Slots, Refusal> {
        if sequences > self.capacity {
            return Err(Refusal::TooLarge);
        }
        let mut used = lock(&self.used);
        let missing = sequences.saturating_sub(self.capacity - *used);
        if missing > 0 {
            return Err(Refusal::Full { retry_after: retry_after(1, per_slot) });
        }
        *used += sequences;
        Ok(Slots { count: sequences, used: self.used.clone() })
    }
}

impl Slots {
    pub fn end_one(&mut self) {
        if self.count > 0 {
            self.count -= 1;
            *lock(&self.used) -= 1;
        }
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        *lock(&self.used) -= self.count;
    }
}

fn retry_after(missing: usize, per_slot: Duration) -> u64 {
    let missing = u32::try_from(missing).unwrap_or(u32::MAX);
    let wait = per_slot.saturating_mul(missing);
    let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
    seconds.clamp(1, 60)
}

fn lock(used: &Mutex<usize>) -> MutexGuard<'_, usize> {
    used.lock().unwrap_or_else(PoisonError::into_inner)
}
