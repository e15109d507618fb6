//! The progress of a job.

use std::time::Duration;

/// The progress of a job, summed over its sequences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Tokens generated so far.
    pub tokens: usize,
    /// The most tokens that the job may generate; it may end earlier.
    pub max_tokens: usize,
    /// Since the job joined the batch.
    pub elapsed: Duration,
}

impl Progress {
    /// Tokens generated per second, prefill included.
    pub fn tokens_per_second(&self) -> f64 {
        self.tokens as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// An upper bound on the remaining time at the current speed.
    pub fn time_left(&self) -> Duration {
        let left = self.max_tokens.saturating_sub(self.tokens);
        let seconds = left as f64 / self.tokens_per_second();
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}
