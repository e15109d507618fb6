//! All tokens are handed over at the end.

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
    let mut tokens = Vec::new();
    let mut ending = Ending::Length;
    for _ in 0..max_tokens {
        if cancelled.load(Ordering::Relaxed) {
            ending = Ending::Cancelled;
            break;
        }
        tokens.push(step());
    }
    for token in tokens {
        if on_token(token).is_break() {
            return Ending::Stopped;
        }
    }
    ending
}
