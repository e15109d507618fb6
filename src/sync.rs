//! The locks, channels and threads of `inference`, in one place: `tests/interleavings` compiles the
//! same code with those of a model checker.

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, atomic, mpsc};
pub(crate) use std::{thread, thread_local};
