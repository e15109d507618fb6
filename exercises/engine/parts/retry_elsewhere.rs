use your_engine::Parts;
use your_engine::parts;

use super::retry_elsewhere::{Budget, Failure, Next, after_failure};

pub fn take_over(parts: &mut Parts) {
    parts.after_failure = |failure, sent, tried, ready, budget| {
        let failure = match failure {
            parts::Failure::NotConnected => Failure::NotConnected,
            parts::Failure::Status(status) => Failure::Status(status),
            parts::Failure::Broken => Failure::Broken,
        };
        let mut left = Budget { tenths: budget.tenths };
        let next = after_failure(failure, sent, tried, ready, &mut left);
        budget.tenths = left.tenths;
        match next {
            Next::Retry(replica) => parts::NextAttempt::Retry(replica),
            Next::Answer(status) => parts::NextAttempt::Answer(status),
            Next::EndWithError => parts::NextAttempt::EndWithError,
        }
    };
}
