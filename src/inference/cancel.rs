//! Cancellation of a job.

use std::sync::Arc;

use crate::sync::atomic::{AtomicBool, Ordering};

/// Cancels one job, from any thread. Clones cancel the same job.
#[derive(Clone)]
pub struct CancelToken {
    cancelled: Arc<AtomicBool>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl CancelToken {
    /// `wake` wakes the model thread, which sleeps while it has no work.
    pub(super) fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self { cancelled: Arc::default(), wake: Arc::new(wake) }
    }

    /// Wakes the model thread.
    pub(super) fn wake(&self) {
        (self.wake)();
    }

    /// Ends the job before its next step.
    pub fn cancel(&self) {
        if !self.cancelled.swap(true, Ordering::Relaxed) {
            self.wake();
        }
    }

    /// Whether the job was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}
