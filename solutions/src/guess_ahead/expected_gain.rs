//! The expected gain: how many tokens a step gives, what it costs, and how many guesses pay.
//!
//! Why: the expected number of accepted guesses is the sum of the probabilities that at least 1, at
//! least 2, ... are accepted, and a guess counts only if all before it are right. The sum is
//! written as such: the fraction is the same except for an acceptance of 1, and loses digits near
//! it. And why measure a pass instead of assuming that it takes as long as one row? A step that
//! waits for memory costs little more with five rows, but one that computes costs five times as
//! much.
//!
//! What it costs: a pass for each number of rows when the model is loaded, and a division for each
//! number of guesses whenever the acceptance is estimated anew.
//!
//! A common wrong turn: `1 + acceptance * guesses`, as if a guess behind a rejected one could be
//! accepted. With 8 guesses at 0.5 that promises 5 tokens, and there are 2.

/// What was measured, in one unit of time for all.
#[derive(Debug, Clone)]
pub struct Costs {
    /// The time of a pass of 1 row, of 2 rows, and so on.
    pub passes: Vec<f64>,
    /// The time that the draft takes for each guess.
    pub guess: f64,
}

/// How many tokens a step gives on average, where each guess is accepted with probability
/// `acceptance` if all before it are.
pub fn tokens_per_step(acceptance: f64, guesses: usize) -> f64 {
    let mut all_accepted = 1.0;
    let mut tokens = 1.0;
    for _ in 0..guesses {
        all_accepted *= acceptance;
        tokens += all_accepted;
    }
    tokens
}

/// How many times as many tokens come in the same time as without guesses.
pub fn speed_up(acceptance: f64, guesses: usize, costs: &Costs) -> f64 {
    let step = costs.passes[guesses] + guesses as f64 * costs.guess;
    tokens_per_step(acceptance, guesses) * costs.passes[0] / step
}

/// The number of guesses with the greatest speed-up; of several, the fewest.
pub fn best_draft_length(acceptance: f64, costs: &Costs) -> usize {
    let mut best = 0;
    for guesses in 1..costs.passes.len() {
        if speed_up(acceptance, guesses, costs) > speed_up(acceptance, best, costs) {
            best = guesses;
        }
    }
    best
}
