//! Panics in code that is not this crate's own: a driver, a caller's rule, a handler.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Result};

/// Runs code of the caller's; where it panics, that is an error, which calls it `what`.
///
/// What `run` borrows must not be used again after a panic: it may be half changed.
pub(crate) fn contain<T>(what: &'static str, run: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(run))
        .map_err(|panic| Error::Panicked { what, message: message(panic.as_ref()) })
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
