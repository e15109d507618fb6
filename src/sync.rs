//! The locks, channels and threads of `inference`, in one place: `tests/interleavings` compiles this crate
//! with those of a model checker.

#[cfg(feature = "shuttle")]
mod model_checker;

#[cfg(feature = "shuttle")]
pub(crate) use model_checker::*;
#[cfg(not(feature = "shuttle"))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, atomic, mpsc};
#[cfg(not(feature = "shuttle"))]
pub(crate) use std::{thread, thread_local};
