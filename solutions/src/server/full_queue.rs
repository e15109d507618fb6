//! A bounded queue that tells clients when to retry.
//!
//! Why: the slots are a value. The thread that has it has the slots, and when it goes out of scope,
//! for whatever reason, a finished text, an error, a panic, or a client that has gone, `drop` gives
//! them back. So no code has to remember that, and none can do it twice. Looking and taking happen
//! under one lock, so no other thread can take the same slot in between. The answer to a full queue
//! is a number that follows from what is missing: a bare 429 makes all clients come again at once.
//!
//! What it costs: a lock for each request, held for a comparison and an addition.
//!
//! A common wrong turn: taking slot after slot until there is none. Two requests for three slots
//! each then hold two of four, and wait for each other, or both are refused although one of them
//! had room. Another: freeing one slot in `drop`, whatever the request had. The server gets smaller
//! with each request with `n` above 1, and a week later it is full and idle.

use std::sync::PoisonError;
use std::time::Duration;

use shuttle::sync::{Arc, Mutex, MutexGuard};

/// Counts the sequences in a server, running or waiting.
#[derive(Debug)]
pub struct Queue {
    capacity: usize,
    used: Arc<Mutex<usize>>,
}

/// The slots of one request. Dropping them frees them.
#[derive(Debug)]
pub struct Slots {
    count: usize,
    used: Arc<Mutex<usize>>,
}

/// Why a request was not admitted.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// 429, with this number of seconds in `Retry-After`.
    Full { retry_after: u64 },
    /// 400: it needs more slots than there are at all. Retrying is useless.
    TooLarge,
}

impl Queue {
    /// A queue with `capacity` slots, all of them free.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, used: Arc::default() }
    }

    /// How many slots are free.
    pub fn free(&self) -> usize {
        self.capacity - *lock(&self.used)
    }

    /// Admits a request for `sequences` texts, at least 1. All of them get a slot, or none: half an
    /// answer is none. Many threads call this at the same time.
    pub fn admit(&self, sequences: usize, per_slot: Duration) -> Result<Slots, Refusal> {
        if sequences > self.capacity {
            return Err(Refusal::TooLarge);
        }
        let mut used = lock(&self.used);
        let missing = sequences.saturating_sub(self.capacity - *used);
        if missing > 0 {
            return Err(Refusal::Full { retry_after: retry_after(missing, per_slot) });
        }
        *used += sequences;
        Ok(Slots { count: sequences, used: self.used.clone() })
    }
}

impl Slots {
    /// One of the sequences has ended before the others: its slot is free. Nothing happens if all
    /// of them had ended already.
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

/// The seconds until `missing` slots are free, rounded up, from 1 to 60.
fn retry_after(missing: usize, per_slot: Duration) -> u64 {
    let missing = u32::try_from(missing).unwrap_or(u32::MAX);
    let wait = per_slot.saturating_mul(missing);
    // Adding what is missing to a whole second could overflow.
    let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
    seconds.clamp(1, 60)
}

/// A number is right whatever happened to the thread that held its lock.
fn lock(used: &Mutex<usize>) -> MutexGuard<'_, usize> {
    used.lock().unwrap_or_else(PoisonError::into_inner)
}
