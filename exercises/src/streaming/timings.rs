//! Queue time, TTFT and TPOT.

use std::time::Duration;

/// What happened to one request, and when. All times are counted from the start of the program.
#[derive(Debug, Clone)]
pub struct Timeline {
    pub submitted: Duration,
    /// When it joined the batch.
    pub joined: Duration,
    /// When each token was chosen, in order.
    pub tokens: Vec<Duration>,
}

/// The three numbers of one request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timings {
    /// From the submission until it joined.
    pub queue: Duration,
    /// The time to first token, TTFT. `None` if there is no token.
    pub ttft: Option<Duration>,
    /// The time per output token, TPOT: the mean gap between two tokens. `None` if there is no gap.
    pub tpot: Option<Duration>,
}

/// "The server is slow." Which wait does that mean: in the queue, for the first token, or between
/// tokens? Return the three numbers as the reader feels them: the `n`-th token, counted from 1, is
/// there TTFT + (`n` - 1) · TPOT after the submission, if all gaps are the same.
///
/// Be exact to the nanosecond, as a [`Duration`] is, even if the program has run for a year; no
/// time is above ten years. (A mean that is no whole number of nanoseconds may be rounded either
/// way.)
///
/// The catch: a text may have no token at all, if it was cancelled in the queue, and it may have
/// only one.
///
/// ```text
/// submitted 1.0 s    joined 1.5 s    tokens at 2.0 s, 2.25 s, 2.5 s
/// queue     0.5 s    ttft   1.0 s    tpot 0.25 s
/// ```
pub fn timings(timeline: &Timeline) -> Timings {
    todo!()
}
