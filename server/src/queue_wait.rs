//! How long a request should wait that found the queue full.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use slowburn::inference::{Completion, FinishReason};

/// How much of the mean the newest time replaces, as in TCP's estimate of a round trip (RFC 6298).
const NEWEST: f64 = 0.125;

/// The longest `Retry-After`: by then the estimate is outdated.
const LONGEST: f64 = 60.0;

/// An estimate of the time that a full queue takes to empty.
///
/// With `r` sequences that run at once, each for `s` seconds, `r / s` leave the queue in a second.
pub(super) struct QueueWait {
    max_running: f64,
    /// The mean time for which a sequence runs, in seconds: the newer, the more it counts.
    run_time: Mutex<Option<f64>>,
}

impl QueueWait {
    pub(super) fn new(max_running: u64) -> Self {
        Self { max_running: max_running as f64, run_time: Mutex::default() }
    }

    /// Takes note of a sequence that has ended. One that was ended from outside does not say how
    /// long sequences take.
    pub(super) fn ended(&self, Completion { finish_reason, timings, .. }: &Completion) {
        let from_outside = [
            FinishReason::Deadline,
            FinishReason::Cancelled,
            FinishReason::Shutdown,
        ];
        if !from_outside.contains(finish_reason) {
            self.ran(timings.total.saturating_sub(timings.queue));
        }
    }

    fn ran(&self, time: Duration) {
        let time = time.as_secs_f64();
        let mut run_time = self.run_time.lock().unwrap_or_else(PoisonError::into_inner);
        let mean = run_time.unwrap_or(time);
        *run_time = Some(mean + NEWEST * (time - mean));
    }

    /// The time in which so many leave the queue: whole seconds, rounded up, from 1 to 60. 1 second
    /// as long as nothing has ended.
    pub(super) fn of(&self, waiting: usize) -> Duration {
        let run_time = *self.run_time.lock().unwrap_or_else(PoisonError::into_inner);
        let seconds = waiting as f64 * run_time.unwrap_or(0.0) / self.max_running;
        Duration::from_secs_f64(seconds.ceil().clamp(1.0, LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(wait: &QueueWait, waiting: usize) -> u64 {
        wait.of(waiting).as_secs()
    }

    #[test]
    fn the_wait_is_the_queue_over_the_rate_at_which_sequences_leave_it() {
        let wait = QueueWait::new(8);
        assert_eq!(seconds(&wait, 1000), 1, "nothing is known yet");
        wait.ran(Duration::from_secs(2));
        // 8 in 2 seconds are 4 in a second.
        for (waiting, expected) in [(0, 1), (1, 1), (4, 1), (5, 2), (32, 8), (256, 60)] {
            assert_eq!(seconds(&wait, waiting), expected, "{waiting} wait");
        }
    }

    #[test]
    fn newer_times_count_more() {
        let wait = QueueWait::new(1);
        wait.ran(Duration::from_secs(8));
        wait.ran(Duration::ZERO);
        assert_eq!(seconds(&wait, 1), 7);
        for _ in 0..40 {
            wait.ran(Duration::from_secs(3));
        }
        // Rounded up: the first times have not gone entirely.
        assert_eq!(seconds(&wait, 1), 4);
        assert_eq!(seconds(&wait, 10), 31);
    }

    #[test]
    fn one_that_was_ended_from_outside_does_not_count() {
        use slowburn::inference::{Timings, Usage};
        let completion = |finish_reason| Completion {
            finish_reason,
            usage: Usage { prompt_tokens: 1, completion_tokens: 1, ..Usage::default() },
            prompt_logprobs: Vec::new(),
            preemptions: 0,
            timings: Timings {
                queue: Duration::from_secs(4),
                ttft: None,
                tpot: None,
                total: Duration::from_secs(9),
            },
        };
        let wait = QueueWait::new(1);
        for reason in [
            FinishReason::Deadline,
            FinishReason::Cancelled,
            FinishReason::Shutdown,
        ] {
            wait.ended(&completion(reason));
        }
        assert_eq!(seconds(&wait, 10), 1);
        wait.ended(&completion(FinishReason::Length));
        assert_eq!(seconds(&wait, 10), 50, "of 9 seconds it has waited for 4");
    }
}
