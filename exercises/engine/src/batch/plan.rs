//! Who takes part in a step: the plan, and the blocks for it.

use std::iter;

use super::{Batch, PREEMPTION, STEP, insert, position};
use crate::blocks::BLOCK_SIZE;
use crate::broken::fail;
use crate::parts::{Holder, Holders, Limits, Planned, Work};
use crate::sequence::Sequence;

impl Batch<'_> {
    /// The blocks that the prefix cache has of those that may be admitted. A block that nobody holds
    /// may be evicted: only the first that waits can count on it.
    pub(super) fn found(&self) -> Vec<(char, Vec<u32>)> {
        let places = self.room.max_running.saturating_sub(self.running.len());
        let found = |(i, text): (usize, &Sequence)| {
            if i >= places {
                return (text.name, Vec::new());
            }
            let blocks = self.blocks.prefix(&text.tokens).into_iter();
            let held = blocks.take_while(|&block| i == 0 || self.blocks.texts(block) > 0);
            (text.name, held.collect())
        };
        self.waiting.iter().enumerate().map(found).collect()
    }

    pub(super) fn plan(&self, found: &[(char, Vec<u32>)]) -> Vec<Work> {
        let running: Vec<Planned> = self.running.iter().map(|text| text.planned(0)).collect();
        let waiting = iter::zip(&self.waiting, found)
            .map(|(text, (_, blocks))| text.planned(blocks.len() * BLOCK_SIZE));
        let waiting: Vec<Planned> = waiting.collect();
        // Blocks that only a paused text holds are there for the running ones.
        let available = self.blocks.available();
        let of_paused = self.paused.iter().flat_map(|text| self.alone(text)).count();
        let first = found.first().map_or(&[][..], |(_, blocks)| blocks);
        let idle = first.iter().filter(|block| available.contains(block)).count();
        let limits = Limits {
            token_budget: self.room.token_budget,
            max_running: self.room.max_running,
            free_blocks: available.len() + of_paused - idle,
        };
        self.parts
            .ask_exactly(STEP, "its plan", |parts| (parts.one_step)(&running, &waiting, limits))
    }

    /// The blocks of a text that no other holds.
    fn alone(&self, text: &Sequence) -> Vec<u32> {
        let blocks = text.blocks.iter().copied();
        blocks.filter(|&block| self.blocks.texts(block) == 1).collect()
    }

    /// Sees to it that each text of the plan has its blocks. What cannot have them, and what loses them
    /// to an older one, takes no part.
    pub(super) fn take_blocks(
        &mut self,
        plan: Vec<Work>,
        mut found: Vec<(char, Vec<u32>)>,
    ) -> Vec<Work> {
        let ran: Vec<char> = self.running.iter().map(|text| text.name).collect();
        let mut has_room = true;
        let mut kept: Vec<Work> = Vec::new();
        for work in plan {
            if kept.iter().any(|other| other.name == work.name) {
                fail(STEP, format!("plans twice for {:?}", work.name));
            }
            let waits = found.iter().position(|(name, _)| *name == work.name);
            let ready = if let Some(i) = waits {
                has_room = has_room && self.admit(work.name, found.swap_remove(i).1);
                has_room
            } else if ran.contains(&work.name) {
                self.grow(&work)
            } else {
                fail(STEP, format!("plans for {:?}, which neither runs nor waits", work.name))
            };
            if ready {
                kept.push(work);
            }
        }
        kept.retain(|work| position(&self.running, work.name).is_some());
        kept.iter().for_each(|work| self.can_be_computed(work));
        kept
    }

    fn can_be_computed(&self, work: &Work) {
        let text = self.running.iter().find(|text| text.name == work.name);
        let unread = text.map_or(0, |text| text.tokens.len() - text.computed);
        if work.tokens == 0 || work.tokens > unread {
            let Work { name, tokens, .. } = work;
            fail(STEP, format!("plans {tokens} tokens of {name:?}, of which {unread} are left"));
        }
    }

    /// A text that waits joins those that run, where there are blocks for its prompt.
    fn admit(&mut self, name: char, found: Vec<u32>) -> bool {
        let Some(place) = position(&self.waiting, name) else {
            return false;
        };
        if !self.blocks.keeps(&found) {
            // An older text has just taken what it had found.
            return false;
        }
        let mut text = self.waiting.remove(place);
        self.blocks.share(&found);
        text.join(found);
        let (lacks, found) = (text.lacks(text.to_read), text.computed);
        insert(&mut self.running, text);
        if self.take(name, lacks) {
            self.counts.found += found;
            return true;
        }
        if let Some(place) = position(&self.running, name) {
            let mut text = self.running.remove(place);
            self.blocks.release(&text.give_up());
            insert(&mut self.waiting, text);
        }
        false
    }

    /// A text that runs gets the blocks that its part of the step needs.
    fn grow(&mut self, work: &Work) -> bool {
        // It may have lost its blocks to an older one.
        let Some(place) = position(&self.running, work.name) else {
            return false;
        };
        let text = &self.running[place];
        let lacks = text.lacks(text.computed + work.tokens);
        let has_room = lacks == 0 || self.take(work.name, lacks);
        self.counts.deferred += usize::from(!has_room);
        has_room
    }

    /// Takes blocks for a text that runs, from others if need be.
    fn take(&mut self, name: char, count: usize) -> bool {
        let holders = |texts: &[Sequence]| -> Vec<Holder> {
            texts.iter().map(|text| text.holder(self.alone(text))).collect()
        };
        let holders = Holders {
            running: holders(&self.running),
            paused: holders(&self.paused),
            waiting: holders(&self.waiting),
            free: self.blocks.available(),
        };
        let (after, has_room) = self.parts.ask_exactly(PREEMPTION, "who holds what", |parts| {
            let (mut after, has_room) = (parts.preemption)(&holders, name, count);
            // In any order.
            after.free.sort_unstable();
            (after, has_room)
        });
        self.apply(&holders, &after);
        let Some(place) = position(&self.running, name).filter(|_| has_room) else {
            return false;
        };
        let Some(blocks) = self.blocks.allocate(count) else {
            fail(
                PREEMPTION,
                format!(
                    "says that the blocks are free that {name:?} needs, {count} of them, but they are not"
                ),
            );
        };
        self.running[place].blocks.extend(blocks);
        true
    }

    /// Those that have lost their blocks give them up.
    fn apply(&mut self, before: &Holders, after: &Holders) {
        for holder in &before.running {
            let name = holder.name;
            if after.running.iter().any(|text| text.name == name) {
                continue;
            }
            if after.waiting.iter().all(|text| text.name != name) {
                fail(PREEMPTION, format!("has lost the text {name:?}"));
            }
            if let Some(place) = position(&self.running, name) {
                let mut text = self.running.remove(place);
                self.preempt(&mut text);
                insert(&mut self.waiting, text);
            }
        }
        for holder in before.paused.iter().filter(|holder| !holder.blocks.is_empty()) {
            let holds = |text: &Holder| text.name == holder.name && !text.blocks.is_empty();
            let place = position(&self.paused, holder.name);
            if let Some(place) = place.filter(|_| !after.paused.iter().any(holds)) {
                let mut text = self.paused.remove(place);
                self.preempt(&mut text);
                self.paused.insert(place, text);
            }
        }
    }

    fn preempt(&mut self, text: &mut Sequence) {
        self.counts.preempted += 1;
        self.free(text);
    }
}
