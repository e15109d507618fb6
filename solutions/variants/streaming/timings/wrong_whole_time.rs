//! The whole time, divided by the number of tokens: TTFT is spread over them.

use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Timeline {
    pub submitted: Duration,
    pub joined: Duration,
    pub tokens: Vec<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timings {
    pub queue: Duration,
    pub ttft: Option<Duration>,
    pub tpot: Option<Duration>,
}

pub fn timings(timeline: &Timeline) -> Timings {
    let Timeline { submitted, joined, tokens } = timeline;
    Timings {
        queue: *joined - *submitted,
        ttft: tokens.first().map(|first| *first - *submitted),
        tpot: tokens.last().map(|last| (*last - *submitted) / tokens.len() as u32),
    }
}
