//! Choosing a token budget.

use std::time::Duration;

/// What a step takes on one machine, as measured: a fixed time, in which the weights are read, and
/// a time for each token.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    pub fixed: Duration,
    /// Above 0.
    pub per_token: Duration,
}

/// With a small budget, prompts are read slowly; with a large one, everybody waits between two
/// tokens. You decide which gap is acceptable, and this function finds the budget: the greatest for
/// which a step takes no longer than `gap`, the longest time that readers should wait between two
/// tokens.
///
/// - A step with a budget of `b` takes `fixed + b * per_token`.
/// - `decodes` sequences decode at each step, and each takes one token of the budget. `None` if the
///   greatest budget leaves no token for a prompt: this machine can't hold the gap with so many.
///
/// ```text
/// fixed 10 ms, per_token 0.5 ms, gap 40 ms
///
/// 60 tokens take 10 + 30 = 40 ms      budget(.., decodes 4) = Some(60)
///                                     budget(.., decodes 60) = None
/// ```
pub fn budget(step: Step, gap: Duration, decodes: usize) -> Option<usize> {
    todo!()
}

/// And what does that budget mean for a new reader? Return the time until a prompt of `prompt`
/// tokens, at least 1, has its first token, with a budget of `budget` and `decodes` sequences that
/// decode at each step. The budget is greater than `decodes`.
///
/// - Each step reads as many tokens of the prompt as the decodes leave, and the last one what is
///   left of the prompt. Its logits give the first token at the end of that step.
/// - A step takes `fixed`, plus `per_token` for each token that it computes, in the decodes and in
///   the prompt. The last step may have fewer than the budget.
///
/// ```text
/// fixed 10 ms, per_token 0.5 ms; budget 60, decodes 4, a prompt of 100 tokens
///
/// step 1    4 + 56 tokens    40 ms
/// step 2    4 + 44 tokens    34 ms      time_to_first_token = 74 ms
/// ```
///
/// Both functions are exact to the nanosecond.
///
/// **Limits**, for when that passes: all times are below an hour, and all counts below a million.
pub fn time_to_first_token(step: Step, budget: usize, decodes: usize, prompt: usize) -> Duration {
    todo!()
}
