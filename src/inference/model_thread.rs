//! Marks model threads, which must not block.

use std::cell::Cell;

use crate::error::{Result, ServiceError};
use crate::sync::thread_local;

thread_local! {
    /// Whether the current thread is a model thread.
    static IS_MODEL_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Marks the current thread as a model thread.
pub(super) fn enter() {
    IS_MODEL_THREAD.with(|is_model_thread| is_model_thread.set(true));
}

/// Checks that this thread may wait for a model. A callback runs in the model thread: waiting there
/// for its own model would deadlock.
///
/// # Errors
/// The current thread is a model thread, of this model or of another.
pub(super) fn check_may_wait() -> Result<()> {
    if IS_MODEL_THREAD.with(Cell::get) {
        Err(ServiceError::WaitInModelThread.into())
    } else {
        Ok(())
    }
}
