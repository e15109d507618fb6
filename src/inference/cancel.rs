//! Cancellation of a job.

use std::sync::Arc;

use crate::sync::atomic::{AtomicBool, Ordering};

/// Wakes the model thread, which sleeps while it has no work.
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

/// Cancels one job, from any thread. Clones cancel the same job.
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

    /// Whether the job was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}
