//! Whether anybody still waits for work that may take long.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{RequestError, Result};

/// Gives up work that another thread does: compiling a grammar, or computing a mask. Clones give up the
/// same work.
#[derive(Clone, Default)]
pub struct Cancel(Arc<State>);

#[derive(Default)]
struct State {
    is_cancelled: AtomicBool,
    /// Tells what computes and has a flag of its own. There is one at a time.
    tell: Mutex<Option<Box<dyn Fn() + Send>>>,
}

impl Cancel {
    /// Gives the work up. It ends with an error as soon as it looks.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::SeqCst);
        let tell = self.0.tell.lock().unwrap_or_else(PoisonError::into_inner);
        tell.iter().for_each(|tell| tell());
    }

    /// Whether the work was given up.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::SeqCst)
    }

    /// # Errors
    /// Work that was given up.
    pub fn check(&self) -> Result<()> {
        match self.is_cancelled() {
            false => Ok(()),
            true => Err(RequestError::GrammarCancelled.into()),
        }
    }

    /// Calls `tell` once the work is given up, at once if it has been. It takes the place of the one
    /// before.
    pub fn on_cancel(&self, tell: impl Fn() + Send + 'static) {
        let mut told = self.0.tell.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock: whoever cancels sees the flag set here, or the new function.
        if self.is_cancelled() {
            tell();
        }
        *told = Some(Box::new(tell));
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Cancel").field(&self.is_cancelled()).finish()
    }
}
