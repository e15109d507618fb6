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

/// The reader closes the window, and the model writes on for nobody. A text has to be stoppable at
/// any step. Take up to `max_tokens` steps, hand each token to `on_token`, and return why it ended.
///
/// `step` computes one token. `cancelled` may be set at any time, also by another thread while a
/// step is being computed; it belongs to the code that sets it, and you don't change it.
///
/// - No step begins once the flag is set. So at most one more token comes after that: from the step
///   during which it was set.
/// - A token that was computed is handed over before the next step begins.
/// - If `on_token` breaks, you take no further step: [`Ending::Stopped`], whatever the flag is, and
///   at the last token too.
/// - A text with all its tokens ends with [`Ending::Length`], even if the flag was set during the
///   last step. With `max_tokens` 0 there is no step, and the text has all its tokens.
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
