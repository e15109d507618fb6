//! Code that may wait for ever.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::Case;

/// Far longer than any answer takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(5);

/// What `work` returns. It runs in a thread of its own: where it waits for ever, the case fails
/// instead of hanging.
#[track_caller]
pub fn in_time<T: Send + 'static>(case: &Case, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = channel();
    thread::spawn(move || sender.send(work()));
    match receiver.recv_timeout(LIMIT) {
        Ok(result) => result,
        Err(RecvTimeoutError::Disconnected) => panic!("the panic above came from your code"),
        Err(RecvTimeoutError::Timeout) => {
            let expected = format!("an end within {} seconds", LIMIT.as_secs());
            case.fail(&expected, "a call that waits, and does not return")
        }
    }
}
