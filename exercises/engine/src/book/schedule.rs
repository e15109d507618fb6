//! What a step computes, and who gives up blocks.

use crate::blocks::BLOCK_SIZE;
use crate::parts::{Holder, Holders, Limits, Planned, Work};

pub fn one_step(running: &[Planned], waiting: &[Planned], limits: Limits) -> Vec<Work> {
    let decodes = |text: &Planned| text.computed >= text.prompt;
    let mut plan: Vec<Work> = running
        .iter()
        .filter(|text| decodes(text))
        .map(|text| Work { name: text.name, tokens: 1, wants_logits: true })
        .collect();
    // A prompt goes on also where decodes take the whole budget.
    let mut budget = usize::max(1, limits.token_budget.saturating_sub(plan.len()));
    let mut read = |text: &Planned| {
        let unread = text.prompt - text.computed;
        let tokens = unread.min(budget);
        budget -= tokens;
        Work { name: text.name, tokens, wants_logits: tokens == unread }
    };
    let (mut places, mut free) =
        (limits.max_running.saturating_sub(running.len()), limits.free_blocks);
    let admitted = waiting.iter().take_while(|text| {
        let needed = text.prompt.div_ceil(BLOCK_SIZE);
        let fits = places > 0 && needed <= free;
        if fits {
            places -= 1;
            free -= needed;
        }
        fits
    });
    let prompts = running.iter().filter(|text| !decodes(text)).chain(admitted);
    plan.extend(prompts.map(&mut read).take_while(|work| work.tokens > 0));
    plan
}

pub fn make_room(holders: &Holders, name: char, count: usize) -> (Holders, bool) {
    let mut after = holders.clone();
    let Holders { running, paused, waiting, free } = &mut after;
    let give_up = |text: &mut Holder, free: &mut Vec<u32>| {
        text.computed = 0;
        free.append(&mut text.blocks);
    };
    for text in paused.iter_mut().rev() {
        if free.len() < count && !text.blocks.is_empty() {
            give_up(text, free);
        }
    }
    while free.len() < count
        && let Some(mut text) = running.pop_if(|text| text.name != name)
    {
        give_up(&mut text, free);
        waiting.push(text);
        waiting.sort_by_key(|text| text.arrival);
    }
    let has_room = free.len() >= count;
    (after, has_room)
}
