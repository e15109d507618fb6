//! A bug hunt: all other texts stop while one prompt is read.

/// A running sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    pub name: char,
    /// How many tokens of its prompt are not read yet. At 0 it decodes.
    pub unread: usize,
    /// How many tokens are still to be generated, at least 1.
    pub remaining: usize,
}

/// One step: shares out `token_budget`, at least 1, and carries it out. `running` is in the order
/// of arrival. Returns the names of the sequences that got a token, in this order. A sequence with
/// all its tokens leaves. The step that reads the last token of a prompt also gives the first new
/// one.
///
/// **What was observed.** With short prompts all goes well. Once a client sends a long document,
/// all other texts stop, for ten steps or for a hundred. Then they go on, and no token is wrong.
/// With a larger budget it takes fewer steps, but not less time.
///
/// Find the reason, and fix it. The correct behaviour:
///
/// - Every sequence that decodes gets a token at each step, even if more decode than the budget has
///   tokens.
/// - Prompts take what the decodes leave of the budget, first come, first served. If nothing is
///   left, the first of them still reads one token. "First come" is the order of `running`,
///   whatever the lengths of the prompts are.
/// - No number is above 1,000,000,000.
///
/// ```text
/// token_budget 4
/// A decodes, 3 remaining      step 1   A gets a token    B reads 3
/// B 9 unread, 1 remaining     step 2   A gets a token    B reads 3
///                             step 3   A gets a token    B reads 3, and gets its token
/// ```
pub fn step(running: &mut Vec<Sequence>, token_budget: usize) -> Vec<char> {
    let mut budget = token_budget;
    let mut shares = vec![0; running.len()];
    // A new reader should see something soon: prompts are read without delay.
    for (sequence, share) in running.iter().zip(&mut shares) {
        *share = sequence.unread.min(budget);
        budget -= *share;
    }
    // Those that decode need one token each.
    for (sequence, share) in running.iter().zip(&mut shares) {
        if sequence.unread == 0 {
            *share = budget.min(1);
            budget -= *share;
        }
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
