//! A rate limit: the token bucket of one client.
//!
//! Why: a bucket that gets r tokens a second gets r billionths of a token in each nanosecond. So
//! count in billionths, and everything is a whole number: the level, the refill, and the price.
//! Nothing is rounded from one call to the next, so there is no drift, and only the answer is
//! rounded. And you need no thread that fills the bucket: the time since the last call tells what
//! it has got.
//!
//! What it costs: two numbers for each client, and a multiplication for each request. The whole
//! numbers have 128 bits, because the nanoseconds of some years times the tokens of a second do not
//! fit in 64. A server with a bucket for each client also throws away the full ones: a new one is
//! the same.
//!
//! A common wrong turn: adding whole tokens and setting the time to `now`. At one a second, a
//! client that asks twice a second gets 0 tokens added each time, and never another one. And if a
//! call that comes late sets the time back, the same second is added twice.

use std::time::Duration;

/// Nanoseconds in a second, and so the parts of a token.
const BILLION: u128 = 1_000_000_000;

/// A bucket of permits, which are called tokens too and have nothing to do with a model's. The
/// fields are a proposal.
#[derive(Debug)]
pub struct TokenBucket {
    capacity: u32,
    per_second: u32,
    /// How much it holds, in billionths of a token.
    level: u128,
    /// When `level` was right.
    as_of: Duration,
}

/// The answer to a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    Taken,
    /// Not now. If no other request takes anything, it is taken after exactly this time, rounded up to a
    /// nanosecond, and not a nanosecond earlier.
    RetryAfter(Duration),
    /// It costs more than the bucket can hold.
    Never,
}

impl TokenBucket {
    /// A bucket that is full at `now`. It holds `capacity` tokens, and gets `per_second` of them in
    /// each second, evenly, at least 1.
    pub fn new(capacity: u32, per_second: u32, now: Duration) -> Self {
        let level = u128::from(capacity) * BILLION;
        Self { capacity, per_second, level, as_of: now }
    }

    /// Takes `cost` tokens out, if there are as many.
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
        let nanos = (cost - self.level).div_ceil(u128::from(self.per_second));
        Answer::RetryAfter(Duration::from_nanos(nanos as u64))
    }

    /// Adds what has come until `now`.
    fn fill(&mut self, now: Duration) {
        let nanos = now.saturating_sub(self.as_of).as_nanos();
        self.as_of = self.as_of.max(now);
        // At most 2^64 s of 10^9 ns each, at 2^32 a second: this fits in 126 bits.
        let filled = self.level + nanos * u128::from(self.per_second);
        self.level = filled.min(u128::from(self.capacity) * BILLION);
    }
}
