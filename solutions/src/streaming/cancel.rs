//! A text that can be stopped at any step.
//!
//! Why: a step can't be interrupted, so the place to look is between two of them. Looking right
//! before each step keeps both promises: nothing is computed if the flag is set from the beginning,
//! and otherwise at most the current step is finished. What has been computed is paid for, so it is
//! handed over.
//!
//! What it costs: one load of an atomic for each step, against millions of multiplications.
//!
//! A common wrong turn: looking after the step. Then a request that was cancelled while it waited
//! in the queue still costs a step, and the first one reads the whole prompt. Another: taking the
//! flag with `swap(false)`. A second sequence of the same job looks later, and goes on.

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
