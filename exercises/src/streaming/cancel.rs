//! A text that can be stopped at any step.

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
///
/// `step` computes one token. `cancelled` may be set at any time, also by another thread while a
/// step is being computed; it belongs to the code that sets it, and is not changed here.
///
/// - No step begins once the flag is set. So after it is set at most one more token comes: that of
///   the step in which it was set.
/// - A token that was computed is handed over, before the next step begins.
/// - Where `on_token` breaks, no further step is taken: [`Ending::Stopped`], whatever the flag says
///   and also at the last token.
/// - A text with all its tokens ends with [`Ending::Length`], also where the flag was set during the
///   last step. With `max_tokens` 0 there is no step, and that is all its tokens.
///
/// ```text
/// max_tokens 5, the flag is set during the third step
/// steps 3    handed over: 3 tokens    Cancelled
///
/// max_tokens 5, the flag is set before the call
/// steps 0    handed over: nothing     Cancelled
/// ```
pub fn generate(
    step: &mut dyn FnMut() -> u32,
    max_tokens: usize,
    cancelled: &AtomicBool,
    on_token: &mut dyn FnMut(u32) -> ControlFlow<()>,
) -> Ending {
    todo!()
}
