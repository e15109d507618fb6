//! Waiting with a timeout.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::panics;
use crate::{Result, ServiceError};

/// Runs `work` in its own thread, and returns `None` once `progress` has not changed for
/// `patience`.
///
/// `hf-hub` waits for data without a timeout, and a blocked thread cannot be stopped. An abandoned
/// thread remains until the server hangs up or the program ends.
///
/// # Errors
/// Work that panics; a system that cannot start another thread.
pub(super) fn wait<T: Send + 'static>(
    patience: Duration,
    progress: impl Fn() -> u64,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Option<T>> {
    let (done, finished) = mpsc::channel();
    let work = move || {
        // The receiver is gone if the work was abandoned.
        let _ = done.send(panics::contain("the download", work));
    };
    thread::Builder::new().spawn(work).map_err(ServiceError::Thread)?;
    let mut before = progress();
    loop {
        match finished.recv_timeout(patience) {
            Ok(value) => return value.map(Some),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
        let now = progress();
        if now == before {
            return Ok(None);
        }
        before = now;
    }
}
