//! A test that waits for something that never comes should fail, not hang.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Runs `test` in a thread, and fails where it has not returned after five minutes: far longer
/// than it takes on a busy machine, though threads that hand each other thousands of tokens wait
/// for their turn each time there.
pub fn watch<T: Send + 'static>(test: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, finished) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let value = test();
        let _ = done.send(());
        value
    });
    if let Err(RecvTimeoutError::Timeout) = finished.recv_timeout(Duration::from_secs(300)) {
        panic!("the test hangs");
    }
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
