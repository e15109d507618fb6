//! What goes wrong inside a part is caught, and said with the name of the part.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A part that panicked, did not return, or returned what no engine can go on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The exercise whose part it is.
    pub part: &'static str,
    /// What it did, as the rest of a sentence that begins with its name.
    pub did: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.part, self.did)
    }
}

/// Ends the story: the part has returned something that no engine can go on with.
pub fn fail(part: &'static str, did: impl Into<String>) -> ! {
    // Not an ordinary panic: nothing is printed, and `caught` hands it on.
    panic::resume_unwind(Box::new(Broken { part, did: did.into() }))
}

/// Calls a part, watched. A panic in it becomes [`Broken`] with its name. A part may call others, as
/// the loop does: what breaks in them keeps their names.
pub fn call<T>(part: &'static str, run: impl FnOnce() -> T) -> T {
    let watch = WATCH.with_borrow(Clone::clone);
    let _inside = watch.as_ref().map(|watch| watch.enter(part));
    match panic::catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result,
        Err(payload) => panic::resume_unwind(Box::new(broken(part, payload))),
    }
}

/// Runs what calls parts. `part` is blamed for a panic outside of them all.
pub fn caught<T>(part: &'static str, run: impl FnOnce() -> T) -> Result<T, Broken> {
    panic::catch_unwind(AssertUnwindSafe(run)).map_err(|payload| broken(part, payload))
}

fn broken(part: &'static str, payload: Box<dyn Any + Send>) -> Broken {
    match payload.downcast::<Broken>() {
        Ok(broken) => *broken,
        Err(_) => {
            let said = SAID.take().unwrap_or_else(|| "panicked".into());
            Broken { part, did: said }
        }
    }
}

/// Runs code that calls parts in a separate thread, until it ends or a part has been at work for
/// longer than `limit`. A part that doesn't return can't be ended: its thread is left behind.
///
/// # Errors
/// What broke. `part` is blamed for a panic outside of all parts.
pub fn watched<T: Send + 'static>(
    part: &'static str,
    limit: Duration,
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Broken> {
    let (sender, results) = mpsc::channel();
    let (begun, begins) = mpsc::channel();
    thread::spawn(move || {
        let _ = begun.send(Watch::begin());
        let _ = sender.send(caught(part, run));
    });
    let watch = begins.recv().ok();
    loop {
        match results.recv_timeout(Duration::from_millis(20)) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => {
                if let Some(stuck) = watch.as_ref().and_then(|watch| watch.stuck(limit)) {
                    return Err(stuck);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Broken { part, did: "ended its thread".into() });
            }
        }
    }
}

/// Which part is at work in a thread, and since when.
#[derive(Debug)]
pub struct Watch(Mutex<(Vec<&'static str>, Instant)>);

impl Watch {
    /// Watches the parts that this thread calls from now on.
    pub fn begin() -> Arc<Self> {
        let watch = Arc::new(Self(Mutex::new((Vec::new(), Instant::now()))));
        watch.watch_here();
        watch
    }

    /// Watches the parts in this thread too.
    pub fn watch_here(self: &Arc<Self>) {
        static HOOK: Once = Once::new();
        HOOK.call_once(keep_messages);
        WATCH.set(Some(self.clone()));
    }

    /// The innermost part that has been at work for longer than `limit`.
    pub fn stuck(&self, limit: Duration) -> Option<Broken> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let part = *state.0.last().filter(|_| state.1.elapsed() > limit)?;
        let did = format!(
            "has not returned for {} seconds: is there a loop that doesn't end?",
            limit.as_secs()
        );
        Some(Broken { part, did })
    }

    fn enter(&self, part: &'static str) -> Inside<'_> {
        self.change(|parts| parts.push(part));
        Inside(self)
    }

    fn change(&self, change: impl FnOnce(&mut Vec<&'static str>)) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state.0);
        state.1 = Instant::now();
    }
}

struct Inside<'a>(&'a Watch);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.change(|parts| {
            parts.pop();
        });
    }
}

thread_local! {
    static WATCH: RefCell<Option<Arc<Watch>>> = const { RefCell::new(None) };
    /// What the last panic of this thread said, and where it was.
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// A panic in a thread that is watched is kept, and said when the story has ended: it would stand in
/// the middle of the text.
fn keep_messages() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if WATCH.with_borrow(Option::is_none) {
            return usual(info);
        }
        let place = info.location().map_or(String::new(), |place| {
            format!(" at {}:{}:{}", from_the_root(place.file()), place.line(), place.column())
        });
        let why = info.payload_as_str().unwrap_or("for a reason that is no text");
        SAID.set(Some(format!("panicked{place}: {why}")));
    }));
}

/// A file of the project without the folder that the project is in.
fn from_the_root(file: &str) -> &str {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().nth(2).unwrap_or(here);
    Path::new(file).strip_prefix(root).ok().and_then(Path::to_str).unwrap_or(file)
}
