//! Ctrl-C, which ends an answer and not the program.

use std::sync::{Arc, Mutex, PoisonError};

use slowburn::inference::CancelToken;

/// What Ctrl-C cancels at the moment.
#[derive(Clone, Default)]
pub(super) struct Interrupts(Arc<Mutex<Option<CancelToken>>>);

impl Interrupts {
    /// Waits for Ctrl-C from now on. Where the system refuses, it ends the program as before.
    pub(super) fn listen() -> Self {
        let interrupts = Self::default();
        let shared = interrupts.clone();
        let _ = ctrlc::set_handler(move || match shared.lock().as_ref() {
            Some(answer) => answer.cancel(),
            // As a shell expects of a program that SIGINT has ended.
            None => std::process::exit(130),
        });
        interrupts
    }

    /// Cancels this answer with Ctrl-C.
    pub(super) fn cancel(&self, answer: CancelToken) {
        *self.lock() = Some(answer);
    }

    /// The answer has ended.
    pub(super) fn rest(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<CancelToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
