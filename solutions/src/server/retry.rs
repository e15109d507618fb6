//! A client that retries: when, and when not.
//!
//! Why: a server that refuses has more to do than it can. Waiting longer each time takes the load
//! away, and randomness spreads what comes back: a thousand clients that were refused in the same
//! second would otherwise all be back in the same second.
//!
//! What it costs: time, for the client. It should know when to stop: by then its user has gone, and
//! every retry is work for a server that has too much of it.
//!
//! A common wrong turn: adding no jitter if the server sends `Retry-After`. It sends the same
//! number to all, so that is where you need jitter most. And a 400 is the same 400 tomorrow.

use std::time::Duration;

/// How patient a client is.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// The longest wait before the first retry. It doubles with every further one.
    pub base: Duration,
    /// The longest wait before any retry.
    pub most: Duration,
    /// How many retries there are at most.
    pub retries: u32,
}

/// Why a request failed.
#[derive(Debug, Clone, Copy)]
pub struct Refusal {
    /// The HTTP status, 400 to 599.
    pub status: u16,
    /// The time in the server's `Retry-After`.
    pub retry_after: Option<Duration>,
}

/// How long the client waits before it tries again, or `None` if it gives up.
pub fn wait(policy: Policy, refusal: Refusal, done: u32, random: f64) -> Option<Duration> {
    let may_succeed_later = refusal.status == 429 || refusal.status >= 500;
    if !may_succeed_later || done >= policy.retries {
        return None;
    }
    // After 200 doublings a base that is not 0 is the greatest duration there is.
    let doubled = (0..done.min(200)).fold(policy.base, |time, _| time.saturating_mul(2));
    let half = doubled.min(policy.most) / 2;
    let certain = half.max(refusal.retry_after.unwrap_or_default());
    Some(certain.saturating_add(half.mul_f64(random)))
}
