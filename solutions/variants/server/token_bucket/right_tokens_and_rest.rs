//! Whole tokens, and what is over of the next one.

use std::time::Duration;

const BILLION: u128 = 1_000_000_000;

#[derive(Debug)]
pub struct TokenBucket {
    capacity: u32,
    per_second: u32,
    tokens: u128,
    rest: u128,
    as_of: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    Taken,
    RetryAfter(Duration),
    Never,
}

impl TokenBucket {
    pub fn new(capacity: u32, per_second: u32, now: Duration) -> Self {
        Self {
            capacity,
            per_second,
            tokens: u128::from(capacity),
            rest: 0,
            as_of: now,
        }
    }

    pub fn take(&mut self, cost: u32, now: Duration) -> Answer {
        self.fill(now);
        let cost = u128::from(cost);
        if cost > u128::from(self.capacity) {
            return Answer::Never;
        }
        if self.tokens >= cost {
            self.tokens -= cost;
            return Answer::Taken;
        }
        let parts = (cost - self.tokens) * BILLION - self.rest;
        Answer::RetryAfter(Duration::from_nanos(parts.div_ceil(u128::from(self.per_second)) as u64))
    }

    fn fill(&mut self, now: Duration) {
        let Some(elapsed) = now.checked_sub(self.as_of) else {
            return;
        };
        self.as_of = now;
        let parts = elapsed.as_nanos() * u128::from(self.per_second) + self.rest;
        self.tokens += parts / BILLION;
        self.rest = parts % BILLION;
        if self.tokens >= u128::from(self.capacity) {
            self.tokens = u128::from(self.capacity);
            self.rest = 0;
        }
    }
}
