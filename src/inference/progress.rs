//! How far a job has come.

use std::time::Duration;

/// How far a job has come, all its sequences together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// How many tokens there are.
    pub tokens: usize,
    /// How many there are at most: a text may end before.
    pub max_tokens: usize,
    /// Since the job joined the batch.
    pub elapsed: Duration,
}

impl Progress {
    /// Prefill included.
    pub fn tokens_per_second(&self) -> f64 {
        self.tokens as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// How long it takes at most, if it goes on at this speed.
    pub fn time_left(&self) -> Duration {
        let left = self.max_tokens.saturating_sub(self.tokens);
        let seconds = left as f64 / self.tokens_per_second();
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}
