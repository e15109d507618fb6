//! By an iterator that ends at the first reason to.

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
    let ended = (0..max_tokens).find_map(|_| {
        if cancelled.load(Ordering::SeqCst) {
            return Some(Ending::Cancelled);
        }
        on_token(step()).is_break().then_some(Ending::Stopped)
    });
    ended.unwrap_or(Ending::Length)
}
