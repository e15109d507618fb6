//! Threads with a common start.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// Calls `work` with the thread's index on each of `threads` threads, and returns the time from the
/// common start to the last end.
pub fn time(threads: usize, work: &(dyn Fn(usize) + Sync)) -> Duration {
    let barrier = Barrier::new(threads);
    thread::scope(|scope| {
        for thread in 1..threads {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                work(thread);
            });
        }
        barrier.wait();
        let start = Instant::now();
        work(0);
        start
    })
    .elapsed()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn all_threads_have_worked_when_the_time_is_over() {
        let called = Mutex::new(Vec::new());
        time(3, &|thread| {
            if thread == 2 {
                // Later than the others.
                thread::sleep(Duration::from_millis(20));
            }
            called.lock().unwrap().push(thread);
        });
        let mut called = called.into_inner().unwrap();
        called.sort_unstable();
        assert_eq!(called, [0, 1, 2]);
    }
}
