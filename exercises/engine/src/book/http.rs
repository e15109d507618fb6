//! The two ends of a request: whether it may come in, and how its text goes out.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::parts::{Queue, Refusal, Slots};

pub fn sse_event(name: Option<&str>, data: &str) -> Option<String> {
    if name.is_some_and(|name| name.contains(['\r', '\n'])) {
        return None;
    }
    let mut event = name.map_or(String::new(), |name| format!("event: {name}\n"));
    let mut rest = data;
    loop {
        let end = rest.find(['\r', '\n']);
        event += &format!("data: {}\n", &rest[..end.unwrap_or(rest.len())]);
        let Some(end) = end else {
            return Some(event + "\n");
        };
        let length = if rest[end..].starts_with("\r\n") {
            2
        } else {
            1
        };
        rest = &rest[end + length..];
    }
}

struct Counted {
    capacity: usize,
    free: Arc<AtomicUsize>,
}

struct Taken {
    count: usize,
    free: Arc<AtomicUsize>,
}

pub fn queue(capacity: usize) -> Box<dyn Queue> {
    Box::new(Counted { capacity, free: Arc::new(AtomicUsize::new(capacity)) })
}

impl Queue for Counted {
    fn free(&self) -> usize {
        self.free.load(Ordering::SeqCst)
    }

    fn admit(&self, sequences: usize, per_slot: Duration) -> Result<Box<dyn Slots>, Refusal> {
        if sequences > self.capacity {
            return Err(Refusal::TooLarge);
        }
        let less = |free: usize| free.checked_sub(sequences);
        match self.free.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less) {
            Ok(_) => Ok(Box::new(Taken { count: sequences, free: self.free.clone() })),
            Err(free) => {
                let nanos = per_slot.as_nanos().saturating_mul((sequences - free) as u128);
                let seconds = nanos.div_ceil(1_000_000_000).clamp(1, 60);
                Err(Refusal::Full { retry_after: seconds as u64 })
            }
        }
    }
}

impl Slots for Taken {
    fn end_one(&mut self) {
        let ended = self.count.min(1);
        self.count -= ended;
        self.free.fetch_add(ended, Ordering::SeqCst);
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.free.fetch_add(self.count, Ordering::SeqCst);
    }
}
