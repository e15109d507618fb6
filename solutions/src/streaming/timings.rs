//! Queue time, TTFT and TPOT.
//!
//! Why: a reader's clock starts at the submission. Whether the machine is busy with another text or
//! with this prompt makes no difference to the reader, so the queue time is a part of TTFT. The
//! gaps are between tokens, so there is one fewer of them, and their sum is the time from the first
//! token to the last: you need no more than these two instants.
//!
//! What it costs: three subtractions and a division.
//!
//! A common wrong turn: counting TTFT from the moment at which the request joined. Then it measures
//! a prefill, and stays small however long the queue grows: the number is best when readers suffer
//! most. Another: dividing by the number of tokens, which is nearly right for long texts and half
//! of the truth for two tokens.

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

/// The numbers of a request, as the reader feels them.
pub fn timings(timeline: &Timeline) -> Timings {
    let Timeline { submitted, joined, tokens } = timeline;
    let gaps = u32::try_from(tokens.len().saturating_sub(1)).unwrap_or(u32::MAX);
    let span = tokens.first().zip(tokens.last()).map(|(first, last)| *last - *first);
    Timings {
        queue: *joined - *submitted,
        ttft: tokens.first().map(|first| *first - *submitted),
        tpot: span.and_then(|span| span.checked_div(gaps)),
    }
}
