//! Code that may wait forever.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::Case;

/// Far longer than any answer takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(5);

/// How long the other tests wait once one has waited in vain, so that all have a result before the
/// runner stops them. They take milliseconds.
const LIMIT_AFTER_ONE: Duration = Duration::from_millis(500);

static ONE_WAITED: AtomicBool = AtomicBool::new(false);

/// What `work` returns. It runs in a separate thread: if it waits forever, the case fails instead of
/// hanging.
#[track_caller]
pub fn in_time<T: Send + 'static>(case: &Case, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = channel();
    thread::spawn(move || sender.send(work()));
    let limit = if ONE_WAITED.load(Relaxed) {
        LIMIT_AFTER_ONE
    } else {
        LIMIT
    };
    match receiver.recv_timeout(limit) {
        Ok(result) => result,
        Err(RecvTimeoutError::Disconnected) => panic!("the panic above came from your code"),
        Err(RecvTimeoutError::Timeout) => {
            ONE_WAITED.store(true, Relaxed);
            let expected = format!("an end within {} seconds", limit.as_secs_f32());
            case.fail(&expected, "a call that hasn't returned: does it wait in vain, or loop?")
        }
    }
}
