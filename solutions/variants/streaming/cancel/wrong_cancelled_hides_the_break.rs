//! A flag that is set during the step hides that `on_token` broke.

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
    for _ in 0..max_tokens {
        if cancelled.load(Ordering::Relaxed) {
            return Ending::Cancelled;
        }
        let token = step();
        if cancelled.load(Ordering::Relaxed) {
            on_token(token);
            return Ending::Cancelled;
        }
        if on_token(token).is_break() {
            return Ending::Stopped;
        }
    }
    Ending::Length
}
