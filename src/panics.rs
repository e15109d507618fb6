//! Panics in code that is not this crate's own: a driver, a caller's rule, a handler.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Result};

/// Runs code of the caller's; where it panics, that is an error, which calls it `what`.
///
/// What `run` borrows must not be used again after a panic: it may be half changed.
pub(crate) fn contain<T>(what: &'static str, run: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let message = message(panic.as_ref());
        discard(panic);
        Error::Panicked { what, message }
    })
}

/// Drops a value of the caller's. A `Drop` that panics goes no further.
pub(crate) fn discard<T>(value: T) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // What a `Drop` panics with may hold another one that panics: leaking ends the row.
        std::mem::forget(panic);
    }
}

/// The first line of what a panic said.
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

    /// Panics when it is dropped, with another value that does, as deep as it says.
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

    /// While a thread unwinds, a second panic that gets out of a `Drop` would end the process.
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
