//! The gaps in a list, and their mean.

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
    let gaps: Vec<Duration> = tokens.windows(2).map(|pair| pair[1] - pair[0]).collect();
    Timings {
        queue: *joined - *submitted,
        ttft: tokens.first().map(|first| *first - *submitted),
        tpot: (!gaps.is_empty()).then(|| gaps.iter().sum::<Duration>() / gaps.len() as u32),
    }
}
