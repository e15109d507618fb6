//! The flag is looked at before the first step only.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ending {
    Length,
    Cancelled,
    Stopped,
}

pub fn generate(
    step: &mut dyn FnMut() -> u32,
    max_tokens: usize,
    cancelled: &AtomicBool,
    on_token: &mut dyn FnMut(u32) -> ControlFlow<()>,
) -> Ending {
    if cancelled.load(Ordering::Relaxed) {
        return Ending::Cancelled;
    }
    for _ in 0..max_tokens {
        if on_token(step()).is_break() {
            return Ending::Stopped;
        }
    }
    Ending::Length
}
