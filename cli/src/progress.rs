//! Progress bars for what takes long, on a terminal.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use slowburn::checkpoint::{Reading, reading};

/// What takes no longer has no bar.
const SHORT: Duration = Duration::from_millis(400);
/// Between two looks.
const TICK: Duration = Duration::from_millis(100);

/// Calls `load`, and shows how much of the weights was read, if that takes long and standard error is a
/// terminal.
pub fn while_loading<T>(load: impl FnOnce() -> T) -> T {
    let done = || {
        let Reading { bytes, read } = reading();
        (read, bytes)
    };
    watched("loading {wide_bar} {bytes} of {total_bytes}", done, |_| load())
}

/// A bar that appears once its work has taken long, until it is ended.
pub struct Watched(Mutex<State>);

enum State {
    /// Not drawn yet.
    Quick,
    Drawn(ProgressBar),
    Ended,
}

impl Watched {
    /// Removes the bar, for what is written next.
    pub fn end(&self) {
        let state = std::mem::replace(&mut *self.lock(), State::Ended);
        if let State::Drawn(bar) = state {
            bar.finish_and_clear();
        }
    }

    /// Draws how much of how many is done. Whether that goes on.
    fn draw(&self, style: &ProgressStyle, (done, all): (u64, u64)) -> bool {
        let mut state = self.lock();
        // A download that comes before the weights has a bar of its own.
        if all > 0 && matches!(*state, State::Quick) {
            // On standard error, and only where that is a terminal.
            *state = State::Drawn(ProgressBar::new(all).with_style(style.clone()));
        }
        if let State::Drawn(bar) = &*state {
            bar.set_length(all);
            bar.set_position(done.min(all));
        }
        !matches!(*state, State::Ended)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls `work`, and shows meanwhile how much of how many `done` says to be done.
pub fn watched<T>(
    style: &str,
    done: impl Fn() -> (u64, u64) + Send,
    work: impl FnOnce(&Watched) -> T,
) -> T {
    let style =
        ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
    let watched = Watched(Mutex::new(State::Quick));
    thread::scope(|scope| {
        let (ended, end) = mpsc::channel::<()>();
        let watch = || watch(&watched, &style, done, end);
        // Without another thread there is no bar.
        let _ = thread::Builder::new().spawn_scoped(scope, watch);
        let result = work(&watched);
        watched.end();
        drop(ended);
        result
    })
}

fn watch(
    watched: &Watched,
    style: &ProgressStyle,
    done: impl Fn() -> (u64, u64),
    end: Receiver<()>,
) {
    let ended = |time| !matches!(end.recv_timeout(time), Err(RecvTimeoutError::Timeout));
    if ended(SHORT) {
        return;
    }
    while watched.draw(style, done()) && !ended(TICK) {}
}
