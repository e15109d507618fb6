//! One list of all in the order of their turn, with the room that each has.

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
    let decodes = |sequence: &&Sequence| sequence.computed >= sequence.prompt;
    let mut plan = Vec::new();
    for sequence in running.iter().filter(decodes) {
        plan.push(Work { name: sequence.name, tokens: 1, wants_logits: true });
    }
    let most = limits.token_budget.max(plan.len().saturating_add(1));
    let mut spent = plan.len();
    for sequence in running.iter().filter(|sequence| !decodes(sequence)) {
        let mut room = most - spent;
        plan.extend(chunk(sequence, &mut room));
        spent = most - room;
    }
    let (mut count, mut blocks) = (running.len(), 0_usize);
    for sequence in waiting {
        blocks = blocks.saturating_add(sequence.prompt.div_ceil(BLOCK_SIZE));
        let mut room = most - spent;
        if room == 0 || count >= limits.max_running || blocks > limits.free_blocks {
            return plan;
        }
        count += 1;
        plan.extend(chunk(sequence, &mut room));
        spent = most - room;
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
