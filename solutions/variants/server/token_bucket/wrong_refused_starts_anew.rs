//! Who is refused has to wait for a whole token from then on.

use std::time::Duration;

const BILLION: u128 = 1_000_000_000;

#[derive(Debug)]
pub struct TokenBucket {
    capacity: u32,
    per_second: u32,
    level: u128,
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
        let level = u128::from(capacity) * BILLION;
        Self { capacity, per_second, level, as_of: now }
    }

    pub fn take(&mut self, cost: u32, now: Duration) -> Answer {
        self.fill(now);
        let cost = u128::from(cost) * BILLION;
        if cost > u128::from(self.capacity) * BILLION {
            return Answer::Never;
        }
        if let Some(rest) = self.level.checked_sub(cost) {
            self.level = rest;
            return Answer::Taken;
        }
        self.level = self.level / BILLION * BILLION;
        let nanos = (cost - self.level).div_ceil(u128::from(self.per_second));
        Answer::RetryAfter(Duration::from_nanos(nanos as u64))
    }

    fn fill(&mut self, now: Duration) {
        let nanos = now.saturating_sub(self.as_of).as_nanos();
        self.as_of = self.as_of.max(now);
        let filled = self.level + nanos * u128::from(self.per_second);
        self.level = filled.min(u128::from(self.capacity) * BILLION);
    }
}
