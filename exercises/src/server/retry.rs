//! A client that retries: when, and when not.

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

/// A client that retries at once makes a full server fuller. How long should it wait before it
/// tries again? Return `None` if it gives up. `done` retries were made before.
///
/// - Try again only what may succeed later: 429, and all statuses from 500 on.
/// - Give up after `policy.retries` retries.
/// - The **backoff** is `base` doubled once for each retry that was made, and `most` if that would
///   be longer.
/// - Clients that were refused together must not come back together: half of the backoff is
///   certain, and the other half is multiplied by `random`, at least 0 and below 1. This is
///   **jitter**.
/// - If the server sent `Retry-After`, don't ask it earlier: the certain half is `retry_after` if
///   that is longer. The jitter is added all the same. `most` does not shorten the server's time.
/// - The result may be off by a millionth of its value.
/// - **Limits**, for when that passes: `done` and both durations may be as large as their types
///   allow. A sum that no `Duration` holds is `Duration::MAX`.
///
/// ```text
/// base 1 s, most 60 s, 5 retries; status 503
///
/// done 0, random 0                        0.5 s
/// done 2, random 0.5                      2 + 1 = 3 s
/// done 0, random 0.5, retry_after 7 s     7 + 0.25 s
/// done 5                                  None
/// ```
pub fn wait(policy: Policy, refusal: Refusal, done: u32, random: f64) -> Option<Duration> {
    todo!()
}
