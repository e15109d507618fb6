//! Only the time at which it will be full, in parts of a nanosecond.

use std::time::Duration;

const BILLION: u128 = 1_000_000_000;

#[derive(Debug)]
pub struct TokenBucket {
    capacity: u32,
    per_second: u32,
    full_at: u128,
    latest: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    Taken,
    RetryAfter(Duration),
    Never,
}

impl TokenBucket {
    pub fn new(capacity: u32, per_second: u32, now: Duration) -> Self {
        let full_at = now.as_nanos() * u128::from(per_second);
        Self { capacity, per_second, full_at, latest: now }
    }

    pub fn take(&mut self, cost: u32, now: Duration) -> Answer {
        self.latest = self.latest.max(now);
        let per_second = u128::from(self.per_second);
        let now = self.latest.as_nanos() * per_second;
        let capacity = u128::from(self.capacity) * BILLION;
        let cost = u128::from(cost) * BILLION;
        let full_at = self.full_at.max(now) + cost;
        if cost > capacity {
            Answer::Never
        } else if full_at - now <= capacity {
            self.full_at = full_at;
            Answer::Taken
        } else {
            let nanos = (full_at - now - capacity).div_ceil(per_second);
            Answer::RetryAfter(Duration::from_nanos(nanos as u64))
        }
    }
}
