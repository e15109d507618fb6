//! TPOT in whole milliseconds.

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
    let gaps = u32::try_from(tokens.len().saturating_sub(1)).unwrap_or(u32::MAX);
    let span = tokens.first().zip(tokens.last()).map(|(first, last)| *last - *first);
    Timings {
        queue: *joined - *submitted,
        ttft: tokens.first().map(|first| *first - *submitted),
        tpot: span
            .filter(|_| gaps > 0)
            .map(|span| Duration::from_millis(span.as_millis() as u64 / gaps as u64)),
    }
}
