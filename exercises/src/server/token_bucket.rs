//! A rate limit: the token bucket of one client.

use std::time::Duration;

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
    /// Not now. If no other request takes tokens, it is taken after exactly this time, rounded up
    /// to a nanosecond, and not a nanosecond earlier.
    RetryAfter(Duration),
    /// It costs more than the bucket can hold.
    Never,
}

impl TokenBucket {
    /// A bucket that is full at `now`. It holds `capacity` tokens, and gets `per_second` of them in
    /// each second, evenly, at least 1.
    pub fn new(capacity: u32, per_second: u32, now: Duration) -> Self {
        todo!()
    }

    /// One client sends a thousand requests a second, and the others starve. A rate limit allows
    /// each client a burst, and then a steady rate. Take `cost` tokens out, if there are as many.
    ///
    /// - A refused request takes nothing.
    /// - The bucket never holds more than `capacity`, however long no request comes.
    /// - Fractions of a token count: at 1 a second, there is half a token after half a second.
    ///   Nothing is rounded, after however many calls.
    /// - `now` counts from any fixed moment. Two threads may read the clock and then come here in
    ///   the other order. A call whose `now` is earlier than one before it is treated as if it were
    ///   made at that later time.
    /// - **Limits**, for when that passes: `now` may be any `Duration`, and the other numbers may
    ///   be as large as their types allow.
    ///
    /// ```text
    /// capacity 2, per_second 4, full at 0 s
    /// take(2, 0 s)       Taken
    /// take(1, 0.1 s)     RetryAfter(0.15 s)
    /// take(1, 0.25 s)    Taken
    /// take(3, 9 s)       Never
    /// ```
    pub fn take(&mut self, cost: u32, now: Duration) -> Answer {
        todo!()
    }
}
