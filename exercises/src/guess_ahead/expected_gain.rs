//! The expected gain: how many tokens a step gives, what it costs, and how many guesses pay.

/// What was measured, in one unit of time for all.
#[derive(Debug, Clone)]
pub struct Costs {
    /// The time of a pass of 1 row, of 2 rows, and so on: at least one, and all above 0. They may
    /// grow unevenly, or not at all: kernels compute some numbers of rows better than others.
    pub passes: Vec<f64>,
    /// The time that the draft takes for each guess.
    pub guess: f64,
}

/// Guessing pays only if the guesses are often right. How many tokens does a step give on average,
/// if `guesses` tokens are guessed and each is accepted with probability `acceptance`, from 0 to 1,
/// given that all before it are?
///
/// The first `n` guesses are all accepted with probability `acceptance` to the power of `n`, and
/// every step gives one more token, the replacement or the bonus token:
///
/// ```text
/// 1 + a + a^2 + ... + a^guesses   =   (1 - a^(guesses + 1)) / (1 - a)
///
/// acceptance 0.5, 3 guesses      1 + 0.5 + 0.25 + 0.125 = 1.875
/// acceptance 1,   3 guesses      4
/// ```
pub fn tokens_per_step(acceptance: f64, guesses: usize) -> f64 {
    todo!()
}

/// But a step with guesses takes longer. Return how many times as many tokens come in the same time
/// as without guesses. Without guesses, a pass of 1 row gives a token. With `guesses`, fewer than
/// `costs.passes` has entries, a step is a pass of `guesses + 1` rows, plus the draft's time for
/// each guess.
///
/// ```text
/// passes 1 1.2 1.4 2, guess 0.1; acceptance 0.8, 2 guesses
///
/// 2.44 tokens in 1.4 + 2 * 0.1 = 1.6      1.525
/// ```
pub fn speed_up(acceptance: f64, guesses: usize, costs: &Costs) -> f64 {
    todo!()
}

/// So how far ahead should you guess? Return the number of guesses with the greatest speed-up, of
/// all that `costs.passes` has an entry for. Of several, the fewest guesses; so 0 if guessing
/// doesn't pay.
///
/// ```text
/// passes 1 1.2 1.4 2, guess 0.1
///
/// acceptance 0.8      speed-ups 1  1.385  1.525  1.283      2 guesses
/// acceptance 0.2      speed-ups 1  0.923  0.775  0.543      0 guesses
/// ```
pub fn best_draft_length(acceptance: f64, costs: &Costs) -> usize {
    todo!()
}
