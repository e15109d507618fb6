//! Choosing a token budget.
//!
//! Why: two people want opposite things. A reader in the middle of a text wants short steps. A user
//! who has sent a long prompt wants few of them, because each costs the fixed time once more. The
//! gap is what you can promise, so you choose it first, and the largest budget that keeps it gives
//! the prompt the shortest time.
//!
//! What it costs: a measurement on the machine in question, and one more when the model changes.
//! The time of attention grows with the context, so a line through two points is a simplification.
//!
//! A common wrong turn: floating point milliseconds. `(40.0 - 10.0) / 0.1` is 299.99999999999994 or
//! 300, depending on how it is written, and cut to an integer these differ.

use std::time::Duration;

/// What a step takes on one machine, as it was measured.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    pub fixed: Duration,
    /// Above 0.
    pub per_token: Duration,
}

/// The greatest token budget for which a step takes no longer than `gap`.
pub fn budget(step: Step, gap: Duration, decodes: usize) -> Option<usize> {
    let for_tokens = gap.checked_sub(step.fixed)?;
    let tokens = (for_tokens.as_nanos() / step.per_token.as_nanos()) as usize;
    (tokens > decodes).then_some(tokens)
}

/// The time until a prompt has its first token.
pub fn time_to_first_token(step: Step, budget: usize, decodes: usize, prompt: usize) -> Duration {
    let steps = prompt.div_ceil(budget - decodes);
    let tokens = prompt + steps * decodes;
    let nanos = steps as u128 * step.fixed.as_nanos() + tokens as u128 * step.per_token.as_nanos();
    Duration::new((nanos / 1_000_000_000) as u64, (nanos % 1_000_000_000) as u32)
}
