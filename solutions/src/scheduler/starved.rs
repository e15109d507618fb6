//! Everyone's text went on while one prompt was read.
//!
//! Why: prompts took from the budget first. A prompt as long as the budget or longer left nothing,
//! and all decoding sequences had to wait until it was read. Each of them needs one token, and the
//! prompt can use any number: so they come first, and it takes what is left. Its one guaranteed
//! token keeps the opposite from happening, a prompt that waits forever behind a full batch.
//!
//! What it costs: the TTFT of the long prompt, which is read in more and smaller chunks. Its user
//! expects to wait; users in the middle of a text do not.
//!
//! A common wrong turn: limiting the prompt to half the budget. It helps with few readers, but if
//! more of them decode than the other half has tokens, the rest stand still as before. Another:
//! letting prompts wait until no sequence decodes, which on a busy server is never.

/// A running sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    pub name: char,
    /// How many tokens of its prompt are not read yet. At 0 it decodes.
    pub unread: usize,
    /// How many tokens are still to be generated, at least 1.
    pub remaining: usize,
}

/// One step: decodes first, then prompts out of what is left of the budget. Returns the names of
/// those that got a token.
pub fn step(running: &mut Vec<Sequence>, token_budget: usize) -> Vec<char> {
    let decoding = running.iter().filter(|sequence| sequence.unread == 0).count();
    // At least one token, so that a prompt is read however many decode.
    let mut left = token_budget.saturating_sub(decoding).max(1);
    let mut shares = Vec::new();
    for sequence in running.iter() {
        if sequence.unread == 0 {
            shares.push(1);
            continue;
        }
        let share = sequence.unread.min(left);
        left -= share;
        shares.push(share);
    }
    carry_out(running, &shares)
}

/// Computes as many tokens of each sequence as `shares` says.
fn carry_out(running: &mut Vec<Sequence>, shares: &[usize]) -> Vec<char> {
    let mut got_token = Vec::new();
    for (sequence, &share) in running.iter_mut().zip(shares) {
        sequence.unread = sequence.unread.saturating_sub(share);
        if share > 0 && sequence.unread == 0 {
            sequence.remaining -= 1;
            got_token.push(sequence.name);
        }
    }
    running.retain(|sequence| sequence.remaining > 0);
    got_token
}
