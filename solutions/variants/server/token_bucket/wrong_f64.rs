//! Tokens and seconds are floating point numbers.

use std::time::Duration;

const BILLION: u128 = 1_000_000_000;

#[derive(Debug)]
pub struct TokenBucket {
    capacity: u32,
    per_second: u32,
    level: f64,
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
        let level = f64::from(capacity);
        Self { capacity, per_second, level, as_of: now }
    }

    pub fn take(&mut self, cost: u32, now: Duration) -> Answer {
        self.fill(now);
        if cost > self.capacity {
            return Answer::Never;
        }
        if self.level >= f64::from(cost) {
            self.level -= f64::from(cost);
            return Answer::Taken;
        }
        let seconds = (f64::from(cost) - self.level) / f64::from(self.per_second);
        Answer::RetryAfter(Duration::from_secs_f64(seconds))
    }

    fn fill(&mut self, now: Duration) {
        let seconds = now.saturating_sub(self.as_of).as_secs_f64();
        self.as_of = self.as_of.max(now);
        let filled = self.level + seconds * f64::from(self.per_second);
        self.level = filled.min(f64::from(self.capacity));
    }
}
