//! A bounded queue that tells clients when to retry.

// These work as in `std::sync`, but the tests decide which thread runs next, and try many orders.
// Take all locks and atomics from here: with the ones of `std::sync` the tests can't see a race.
use shuttle::sync::{Arc, Mutex};
use std::time::Duration;

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
        todo!()
    }

    /// How many slots are free.
    pub fn free(&self) -> usize {
        todo!()
    }

    /// A full server that accepts everything gets slower and slower. Yours refuses in time, and
    /// tells its client when to come back. Admit a request for `sequences` texts, at least 1. All
    /// of them get a slot, or none: half an answer is no use. Many threads call this at the same
    /// time.
    ///
    /// If too few are free, `Retry-After` tells the client when the missing ones will be. Lately
    /// one slot was freed every `per_slot`. The header has whole seconds: they are rounded up, and
    /// at least 1, so that no client retries too early, and at most 60, so that every client
    /// retries.
    ///
    /// **Limits**, for when that passes: `per_slot` may be any `Duration`, and `capacity` and
    /// `sequences` may be any `usize`.
    ///
    /// ```text
    /// capacity 4, per_slot 0.8 s
    /// admit(3)    Slots
    /// admit(2)    Full { retry_after: 1 }     1 slot is missing, 0.8 s
    /// admit(4)    Full { retry_after: 3 }     3 are missing, 2.4 s
    /// admit(1)    Slots
    /// admit(5)    TooLarge
    /// ```
    pub fn admit(&self, sequences: usize, per_slot: Duration) -> Result<Slots, Refusal> {
        todo!()
    }
}

impl Slots {
    /// One of the sequences has ended before the others: its slot is free. Nothing happens if all
    /// of them had ended already.
    pub fn end_one(&mut self) {
        todo!()
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        // The request has ended, or its client has gone: free what it still has, and no more. (A
        // `todo!()` in `drop` could end the whole run of the tests.)
    }
}
