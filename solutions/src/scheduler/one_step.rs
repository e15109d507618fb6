//! The plan of one step: how many tokens of each sequence it computes.
//!
//! Why: the three parts are three promises, in the order of their importance. A sequence that
//! decodes gets a token at each step, so TPOT does not depend on what else comes. A prompt that is
//! being read goes on: thanks to its guaranteed token, a full batch of decodes can't hold it up
//! forever. And a waiting sequence joins if that costs the others nothing. The plan is a function
//! of its arguments, without a clock or a thread, so a test can ask it anything.
//!
//! What it costs: strictness. A short prompt waits behind a long one, though it would fit. Let it
//! overtake, and on a busy server the long one never finds enough free blocks at once.
//!
//! A common wrong turn: letting the budget limit the decodes too. Then the last of the running
//! sequences gets no token while the batch is full, and because the order is the order of arrival,
//! it is the same one at each step.

/// Positions of a block of keys and values.
pub const BLOCK_SIZE: usize = 4;

/// A sequence that runs or waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    pub name: char,
    /// How many tokens its prompt has, at least 1.
    pub prompt: usize,
    /// How many positions have their keys and values.
    pub computed: usize,
}

/// What one step may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How many tokens it computes, at least 1.
    pub token_budget: usize,
    /// How many sequences run at most.
    pub max_running: usize,
    /// How many blocks are free for the prompts of those that are admitted.
    pub free_blocks: usize,
}

/// What a step does for one sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    pub name: char,
    /// At least 1.
    pub tokens: usize,
    /// Whether logits are wanted for the last of them.
    pub wants_logits: bool,
}

/// Plans one step: decodes, then chunks of prompts, then admission.
pub fn plan(running: &[Sequence], waiting: &[Sequence], limits: Limits) -> Vec<Work> {
    let (decoding, reading): (Vec<&Sequence>, Vec<&Sequence>) =
        running.iter().partition(|sequence| sequence.computed >= sequence.prompt);

    let mut plan: Vec<Work> = decoding
        .iter()
        .map(|sequence| Work { name: sequence.name, tokens: 1, wants_logits: true })
        .collect();
    // At least one token, so that prompts are read however many decode.
    let mut left = limits.token_budget.saturating_sub(decoding.len()).max(1);
    for sequence in reading {
        plan.extend(chunk(sequence, &mut left));
    }

    let mut places = limits.max_running.saturating_sub(running.len());
    let mut free_blocks = limits.free_blocks;
    for sequence in waiting {
        let blocks = sequence.prompt.div_ceil(BLOCK_SIZE);
        if places == 0 || left == 0 || blocks > free_blocks {
            break;
        }
        places -= 1;
        free_blocks -= blocks;
        plan.extend(chunk(sequence, &mut left));
    }
    plan
}

/// As much of the prompt as there are tokens left. None if there are none.
fn chunk(sequence: &Sequence, left: &mut usize) -> Option<Work> {
    let unread = sequence.prompt - sequence.computed;
    let tokens = unread.min(*left);
    *left -= tokens;
    let wants_logits = tokens == unread;
    (tokens > 0).then_some(Work { name: sequence.name, tokens, wants_logits })
}
