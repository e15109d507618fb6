//! Containment of panics in code outside this crate: a driver, a custom rule, a handler.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Result, ServiceError};

thread_local! {
    /// Whether a panic in this thread is an answer that is expected, and not to be reported.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs foreign code and turns a panic into an error that names it `what`.
///
/// State that `run` borrows mutably must not be used after a panic: it may be inconsistent.
pub(crate) fn contain<T>(what: &'static str, run: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let message = message(panic.as_ref());
        discard(panic);
        Error::Service(ServiceError::Panicked { what, message })
    })
}

/// As [`contain`], for code that panics on some input: nothing is written to standard error, where
/// the panic of a program is reported.
#[cfg(feature = "text")]
pub(crate) fn contain_quietly<T>(what: &'static str, run: impl FnOnce() -> T) -> Result<T> {
    silence_quiet_threads();
    let before = IS_QUIET.replace(true);
    let result = contain(what, run);
    IS_QUIET.set(before);
    result
}

/// Puts a hook before the one that reports panics, once: it leaves out those of a quiet thread.
#[cfg(feature = "text")]
fn silence_quiet_threads() {
    static INSTALLED: std::sync::Once = std::sync::Once::new();
    // While a thread unwinds, it cannot change the hook.
    if std::thread::panicking() {
        return;
    }
    INSTALLED.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IS_QUIET.try_with(Cell::get).unwrap_or(false) {
                report(panic);
            }
        }));
    });
}

/// Drops a foreign value, and contains a panic in its `Drop`.
pub(crate) fn discard<T>(value: T) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // The panic's payload may panic in its own `Drop`: leaking it breaks the chain.
        std::mem::forget(panic);
    }
}

/// The first line of a panic's message.
pub(crate) fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("it gave no reason");
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::panic_any;

    /// Panics on drop, with a payload that does the same, to the given depth.
    struct Grenade(u32);

    impl Drop for Grenade {
        fn drop(&mut self) {
            if self.0 > 0 {
                panic_any(Grenade(self.0 - 1));
            }
        }
    }

    #[test]
    fn what_a_panic_leaves_behind_may_panic_when_it_is_dropped() {
        discard(Grenade(5));
        let error = contain("the callback", || panic_any(Grenade(5))).unwrap_err();
        assert!(error.to_string().contains("it gave no reason"), "{error}");
    }

    /// A panic that escapes a `Drop` while the thread unwinds would abort the process.
    #[test]
    fn a_value_may_be_discarded_while_another_panic_unwinds() {
        struct Guard;
        impl Drop for Guard {
            fn drop(&mut self) {
                discard(Grenade(1));
            }
        }
        let unwinding = contain("the callback", || {
            let _guard = Guard;
            panic!("first");
        });
        assert!(unwinding.unwrap_err().to_string().contains("first"));
    }
}
