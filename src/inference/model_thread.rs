//! Which threads must not wait.

use std::cell::Cell;

use crate::error::{Error, Result};

thread_local! {
    /// Whether this is the thread of a model.
    static IS_MODEL_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Says that this is the thread of a model.
pub(super) fn enter() {
    IS_MODEL_THREAD.set(true);
}

/// Whether this thread may wait for a model. A callback runs in the model's thread: to wait
/// there for its own model would be to wait for ever.
///
/// # Errors
/// The thread of a model, of this one or of another.
pub(super) fn check_may_wait() -> Result<()> {
    if IS_MODEL_THREAD.get() {
        Err(Error::WaitInModelThread)
    } else {
        Ok(())
    }
}
