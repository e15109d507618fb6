//! What a load test reports, and what its users waited.

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

/// A load tool that waits for the server can't see how long its users waited. Report a percentile
/// of TTFT as they felt it: the smallest TTFT of the list that at least `per_mille` thousandths of
/// all requests had, or a smaller one. This is the percentile by nearest rank: every reported
/// number was measured.
///
/// `per_mille` is 1 to 1000: 500 is the median, 999 is p99.9. A request without a first token
/// waited longer than any other, so the answer may be `None`. It also is if there is no request at
/// all. The requests are in any order. There may be 100,000 of them, so comparing each with each
/// takes too long.
///
/// ```text
/// The server stands still for 4 s, and the load tool has one connection:
/// planned         0 s    1 s    2 s    3 s    4 s
/// sent            0 s    4 s    4.1 s  4.2 s  4.3 s
/// first token     4 s    4.1 s  4.2 s  4.3 s  4.4 s
/// the tool says   4 s    0.1 s  0.1 s  0.1 s  0.1 s    median 0.1 s
/// users felt      4 s    3.1 s  2.2 s  1.3 s  0.4 s    median 2.2 s
/// ```
pub fn ttft_percentile(requests: &[Request], per_mille: usize) -> Option<Duration> {
    todo!()
}
