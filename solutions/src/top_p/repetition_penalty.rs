//! The repetition penalty.
//!
//! Why: a division by 2 brings 3 down to 1.5, but it would bring -3 up to -1.5. So you multiply a
//! negative score instead, and both fall. A set holds each token once, however often it was said,
//! in the prompt or in the output.
//!
//! What it costs: a set of the tokens so far, built at every step. For a long text you would rather
//! keep the set and add one token at a time.
//!
//! A common wrong turn: going through the text and penalising at each token. A token that was said
//! ten times is divided ten times, and soon the model can't write a full stop any more.

use std::collections::HashSet;

/// Lowers the score of every token in `prompt` or `output`, where `penalty` is above 1: divides it,
/// or multiplies it where it is negative, once. `scores` is `[vocab]`.
pub fn repetition_penalty(scores: &mut [f32], penalty: f32, prompt: &[u32], output: &[u32]) {
    let said: HashSet<u32> = prompt.iter().chain(output).copied().collect();
    for id in said {
        let score = &mut scores[id as usize];
        if *score < 0.0 {
            *score *= penalty;
        } else {
            *score /= penalty;
        }
    }
}
