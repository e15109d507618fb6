//! What a load test reports, and what its users waited.
//!
//! Why: users come when they want to. A load tool that waits for an answer before it sends the next
//! request measures nothing while the server stands still, and counts that pause once instead of
//! for everyone who would have come. This is coordinated omission: tool and server agree on which
//! requests are left out, and they are the slow ones. With a schedule of arrivals, an open loop,
//! the time counts from the plan. For the same reason a request without a first token is no gap in
//! the list. It is the slowest of all.
//!
//! What it costs: a sort. And to send on time, a load tool has to open as many connections as it
//! takes.
//!
//! A common wrong turn: sorting the `Option`s. `None` is the smallest of them, so requests that
//! were refused become the fastest, and a server gets better and better the more it refuses.
//! Another: computing the rank in floating point. There, 0.07 * 100 is 7.000000000000001, and its
//! ceiling is 8.

use std::time::Duration;

/// One request of a load test. All times count from its beginning.
#[derive(Debug, Clone)]
pub struct Request {
    /// When it was to be sent, by the schedule of arrivals: a user pressed a key then.
    pub planned: Duration,
    /// When it was sent. A load tool with few connections sends late, because it waits until the
    /// server has answered an earlier request. Users do not wait for each other.
    pub sent: Duration,
    /// When its first token came. `None` if there never was one: it was refused, or given up.
    pub first_token: Option<Duration>,
}

/// A percentile of TTFT, as the users felt it: the smallest TTFT of the list that at least
/// `per_mille` thousandths of all requests had, or a smaller one. This is the percentile by nearest
/// rank: every result is a time that was measured.
pub fn ttft_percentile(requests: &[Request], per_mille: usize) -> Option<Duration> {
    let felt = |request: &Request| Some(request.first_token? - request.planned);
    let mut times: Vec<Option<Duration>> = requests.iter().map(felt).collect();
    // `None` waited longest, and an `Option` sorts it first.
    times.sort_by_key(|&time| (time.is_none(), time));
    let rank = (times.len() * per_mille).div_ceil(1000);
    *times.get(rank.checked_sub(1)?)?
}
