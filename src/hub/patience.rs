//! Waiting for what may never come.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::panics;
use crate::{Error, Result};

/// Runs `work` in a thread of its own, and gives it up when what `progress` returns has stood
/// still for as long as `patience`: then there is no value.
///
/// `hf-hub` waits for bytes without a limit, and nothing ends a thread that waits. One that was
/// given up goes on waiting until the other side hangs up or the program ends.
///
/// # Errors
/// Work that panics; a system that grants no more threads.
pub(super) fn wait<T: Send + 'static>(
    patience: Duration,
    progress: impl Fn() -> u64,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Option<T>> {
    let (done, finished) = mpsc::channel();
    let work = move || {
        // Nobody listens any more to what was given up.
        let _ = done.send(panics::contain("the download", work));
    };
    thread::Builder::new().spawn(work).map_err(Error::Thread)?;
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
