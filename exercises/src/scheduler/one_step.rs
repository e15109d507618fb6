//! The plan of one step: how many tokens of each sequence it computes.

/// Positions of a block of keys and values.
pub const BLOCK_SIZE: usize = 4;

/// A sequence that runs or waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    pub name: char,
    /// How many tokens its prompt has, at least 1.
    pub prompt: usize,
    /// How many positions have their keys and values, 0 for a waiting sequence. While these are
    /// fewer than `prompt`, the prompt is being read; after that, the sequence decodes.
    pub computed: usize,
}

/// What one step may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How many tokens it computes, at least 1.
    pub token_budget: usize,
    /// How many sequences run at most.
    pub max_running: usize,
    /// How many blocks are free for the prompts of admitted sequences.
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

/// Some sequences decode, some are reading a prompt, some wait, and one step can't serve them all.
/// Plan it, in this order. `running` and `waiting` are in the order of arrival.
///
/// 1. **Decodes.** Every running sequence that decodes computes one token, and its logits are
///    wanted. Together they may take more than the budget. If they use up the budget, one token
///    still remains for the other parts, so that prompts are read under load too.
/// 2. **Chunks.** Running sequences whose prompt is being read share the rest, first come, first
///    served: each takes as many tokens as it has unread. Logits are wanted for the last token of a
///    prompt.
/// 3. **Admission.** Waiting sequences join, as long as fewer than `max_running` run, a token is
///    left, and enough blocks are free for the whole prompt of the next one. A sequence that joins
///    takes these blocks, and a chunk from the rest of the budget. A later sequence never overtakes
///    an earlier one: if the first can't join, the sequences behind it wait too.
///
/// No number is above 1,000,000,000, so a `usize` holds every sum of some of them.
///
/// ```text
/// token_budget 10, max_running 4, free_blocks 5
///
/// running   A: prompt 5, computed 7     B: prompt 12, computed 8    C: prompt 3, computed 3
/// waiting   D: prompt 9                 E: prompt 2
///
/// plan      A 1, logits    C 1, logits    B 4, logits    D 4
///           D takes 3 blocks. No token is left for E, and no place.
/// ```
pub fn plan(running: &[Sequence], waiting: &[Sequence], limits: Limits) -> Vec<Work> {
    todo!()
}
