//! A compare and exchange instead of a lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

#[derive(Debug)]
pub struct Queue {
    capacity: usize,
    used: Arc<AtomicUsize>,
}

#[derive(Debug)]
pub struct Slots {
    count: usize,
    used: Arc<AtomicUsize>,
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
        self.capacity - self.used.load(SeqCst)
    }

    pub fn admit(&self, sequences: usize, per_slot: Duration) -> Result<Slots, Refusal> {
        if sequences > self.capacity {
            return Err(Refusal::TooLarge);
        }
        let taken = self.used.fetch_update(SeqCst, SeqCst, |used| {
            (sequences <= self.capacity - used).then(|| used + sequences)
        });
        if let Err(used) = taken {
            let missing = sequences - (self.capacity - used);
            return Err(Refusal::Full { retry_after: retry_after(missing, per_slot) });
        }
        Ok(Slots { count: sequences, used: self.used.clone() })
    }
}

impl Slots {
    pub fn end_one(&mut self) {
        if self.count > 0 {
            self.count -= 1;
            self.used.fetch_sub(1, SeqCst);
        }
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        self.used.fetch_sub(self.count, SeqCst);
    }
}

fn retry_after(missing: usize, per_slot: Duration) -> u64 {
    let missing = u32::try_from(missing).unwrap_or(u32::MAX);
    let wait = per_slot.saturating_mul(missing);
    let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
    seconds.clamp(1, 60)
}
