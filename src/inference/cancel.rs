//! Ending a job before its time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Wakes the thread of the model, which sleeps while it has nothing to do.
#[derive(Clone)]
pub(super) struct Doorbell(Arc<dyn Fn() + Send + Sync>);

impl Doorbell {
    pub(super) fn new(ring: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(ring))
    }

    pub(super) fn ring(&self) {
        (self.0)();
    }
}

/// Cancels one job, from any thread. A clone cancels the same one.
#[derive(Clone)]
pub struct CancelToken {
    cancelled: Arc<AtomicBool>,
    doorbell: Doorbell,
}

impl CancelToken {
    pub(super) fn new(doorbell: Doorbell) -> Self {
        Self { cancelled: Arc::new(AtomicBool::new(false)), doorbell }
    }

    /// Ends the job before its next step.
    pub fn cancel(&self) {
        if !self.cancelled.swap(true, Ordering::Relaxed) {
            self.doorbell.ring();
        }
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}
