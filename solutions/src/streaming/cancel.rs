//! A text that can be stopped at any step.
//!
//! Why: a step can't be interrupted, so the place to look is between two of them. Looking right
//! before each step is enough for both promises: nothing is computed where the flag is set from the
//! beginning, and at most the step that is under way is finished. What has been computed is paid
//! for, so it is handed over.
//!
//! What it costs: one load of an atomic for each step, against millions of multiplications.
//!
//! A common wrong turn: to look after the step. Then a request that was cancelled while it waited
//! in the queue still costs a step, and the first one reads the whole prompt. Another is to take the
//! flag with `swap(false)`: a second sequence of the same job looks later, and goes on.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a text has ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ending {
    /// It has all its tokens.
    Length,
    /// The flag was set.
    Cancelled,
    /// `on_token` broke.
    Stopped,
}

/// Takes up to `max_tokens` steps, and hands each token to `on_token`. Returns why it ended.
pub fn generate(
    step: &mut dyn FnMut() -> u32,
    max_tokens: usize,
    cancelled: &AtomicBool,
    on_token: &mut dyn FnMut(u32) -> ControlFlow<()>,
) -> Ending {
    for _ in 0..max_tokens {
        if cancelled.load(Ordering::Relaxed) {
            return Ending::Cancelled;
        }
        if on_token(step()).is_break() {
            return Ending::Stopped;
        }
    }
    Ending::Length
}
