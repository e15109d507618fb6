//! Only the blocks of the chunk are asked for, not those of the prompt.

pub const BLOCK_SIZE: usize = 4;

#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    pub name: char,
    pub prompt: usize,
    pub computed: usize,
}

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub token_budget: usize,
    pub max_running: usize,
    pub free_blocks: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    pub name: char,
    pub tokens: usize,
    pub wants_logits: bool,
}

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
        let blocks = sequence.prompt.min(left).div_ceil(BLOCK_SIZE);
        if places == 0 || left == 0 || blocks > free_blocks {
            break;
        }
        places -= 1;
        free_blocks -= blocks;
        plan.extend(chunk(sequence, &mut left));
    }
    plan
}

fn chunk(sequence: &Sequence, left: &mut usize) -> Option<Work> {
    let unread = sequence.prompt - sequence.computed;
    let tokens = unread.min(*left);
    *left -= tokens;
    let wants_logits = tokens == unread;
    (tokens > 0).then_some(Work { name: sequence.name, tokens, wants_logits })
}
