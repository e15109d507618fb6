//! The time that all measurements together may take.

use std::time::{Duration, Instant};

/// A point in time at which all must be done.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    end: Instant,
}

impl Budget {
    pub fn of(time: Duration) -> Self {
        Self { end: Instant::now() + time }
    }

    /// A budget of an equal share of what is left, for the first of so many parts.
    pub fn first_of(self, parts: usize) -> Self {
        Self::of(self.left() / parts.max(1) as u32)
    }

    /// A budget of this share of what is left.
    pub fn share(self, share: f64) -> Self {
        Self::of(self.left().mul_f64(share))
    }

    pub fn left(self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    pub fn is_over(self) -> bool {
        self.left().is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_share_what_is_left() {
        let budget = Budget::of(Duration::from_secs(100));
        let first = budget.first_of(4).left();
        assert!(first <= Duration::from_secs(25) && first > Duration::from_secs(24), "{first:?}");
        assert!(budget.share(0.1).left() <= Duration::from_secs(10));
        let over = Budget::of(Duration::ZERO);
        assert!(over.is_over() && over.first_of(0).is_over() && !budget.is_over());
    }
}
