//! How a scheduler plans a step.

use std::collections::HashSet;

use super::scheduler::Scheduler;
use super::sequence::{Sequence, State};
use super::{Chunk, Decision, Plan, Policy, SequenceId};
use crate::error::Error;
use crate::kv::{Extension, Memory, Turn};
use crate::model::Logits;

/// A plan in the making.
struct Draft<'a, M: Memory> {
    /// Where blocks come from.
    turn: &'a Turn<'a, M>,
    plan: Plan,
    /// The sequences for which there was no memory where there should have been.
    failed: Vec<(SequenceId, Error)>,
    /// The chained hashes of the blocks of prompts that this step fills.
    in_progress: HashSet<u64>,
    /// Whether a running sequence was preempted.
    has_preempted: bool,
    /// The first sequence that lacks blocks, and how many must be free for it.
    shortage: Option<(SequenceId, usize)>,
}

impl<M: Memory> Scheduler<M> {
    /// Plans a step. Blocks change hands now, in this turn of the pool;
    /// [`complete`](Self::complete) says when the tokens are computed. Also returns the sequences
    /// for which the machine has no memory.
    pub(super) fn plan_in(&mut self, turn: &Turn<'_, M>) -> (Plan, Vec<(SequenceId, Error)>) {
        let mut draft = Draft::new(turn);
        for id in self.running.iter().copied().collect::<Vec<_>>() {
            if !self.sequences[&id].awaits_token() {
                self.reject_unchecked(id); // no more is sampled from the last step
            }
        }
        let may_admit = self.may_admit();
        let deferred = self.beyond_slots();

        // ANCHOR: plan
        // Decodes: one token of each sequence that has read its prompt.
        for id in self.running.iter().copied().collect::<Vec<_>>() {
            if !self.is_running(id) {
                continue;
            }
            if deferred.contains(&id) {
                draft.plan.decisions.push(Decision::NoSlot { id });
            } else if self.sequences[&id].decodes() {
                self.read(id, 1, &mut draft);
            }
        }
        // Prompts: chunks of what is left, but at least one token.
        let budget = self.config.step_tokens();
        let mut left = budget.saturating_sub(draft.plan.tokens()).max(1);
        for id in self.running.iter().copied().collect::<Vec<_>>() {
            if self.sequences[&id].decodes() || !self.is_running(id) || deferred.contains(&id) {
                continue;
            }
            if self.sequences[&id].awaits_token() {
                draft.plan.decisions.push(Decision::Choosing { id });
                continue;
            }
            if left == 0 {
                draft.plan.decisions.push(Decision::OverBudget { id });
                continue;
            }
            self.extend(id);
            left -= self.prefill(id, left, &mut draft);
        }
        // Admission, in order of arrival. Not in a step that had to preempt.
        while may_admit && !draft.has_preempted && left > 0 {
            let Some(id) = self.next_to_admit().filter(|_| self.has_slot()) else {
                break;
            };
            if !self.admit(id, &mut draft) {
                break;
            }
            if self.sequences[&id].awaits_token() {
                draft.plan.decisions.push(Decision::Choosing { id }); // it was paused meanwhile
                continue;
            }
            left -= self.prefill(id, left, &mut draft);
        }
        // ANCHOR_END: plan
        self.read_drafts(budget, &mut draft.plan, turn);
        for Chunk { id, positions, .. } in &draft.plan.chunks {
            if let Some(sequence) = self.sequences.get_mut(id) {
                let decodes = positions.len() == 1 && sequence.decodes();
                self.blocks.reserve_snapshot(&mut sequence.table, positions.end, decodes, turn);
            }
        }
        self.stats.steps += u64::from(!draft.plan.chunks.is_empty());
        self.shortage = draft.shortage.filter(|_| draft.plan.chunks.is_empty());
        draft.plan.decisions.splice(0..0, std::mem::take(&mut self.lent));
        (draft.plan, draft.failed)
    }

    fn is_running(&self, id: SequenceId) -> bool {
        self.running.contains(&id)
    }

    fn may_admit(&self) -> bool {
        self.config.policy != Policy::StaticBatch || self.running.is_empty()
    }

    /// Whether the next plan reads prompts, as far as one can say before it is made: that of a running
    /// sequence, or of one for which there are a slot and blocks, not counting those that the prefix
    /// cache may spare it, or that a preemption or a rejected draft gives back.
    pub fn reads_prompts(&self) -> bool {
        let next = self.next_to_admit().filter(|_| self.may_admit() && self.has_slot());
        let has_blocks = |id: SequenceId| {
            let missing = self.missing(id, self.least_length(id));
            missing <= self.blocks.available() || !self.parked.is_empty()
        };
        let reads = |id: &SequenceId| {
            let sequence = &self.sequences[id];
            !sequence.decodes() && !sequence.awaits_token()
        };
        next.is_some_and(has_blocks) || self.running.iter().any(reads)
    }

    /// The number of positions that a sequence needs blocks for when it is admitted.
    fn least_length(&self, id: SequenceId) -> usize {
        let sequence = &self.sequences[&id];
        if self.is_paged {
            sequence.tokens.len()
        } else {
            sequence.max_length
        }
    }

    fn slots(&self) -> usize {
        match self.config.policy {
            Policy::OneAtATime => 1,
            _ => self.config.max_running.max(1),
        }
    }

    fn has_slot(&self) -> bool {
        self.holders().count() < self.slots()
    }

    /// The running sequences that have a slot. Where sequences join at any step, one whose token is still
    /// being chosen has none: others take part meanwhile.
    fn holders(&self) -> impl Iterator<Item = SequenceId> {
        let keeps = matches!(self.config.policy, Policy::OneAtATime | Policy::StaticBatch);
        let awaits_token = |id: &SequenceId| self.sequences[id].awaits_token();
        self.running.iter().copied().filter(move |id| keeps || !awaits_token(id))
    }

    /// The running sequences for which there is no slot in this step, as some have got their tokens for
    /// whose slots others were admitted. Those go first that have waited longest, so all have their turn.
    fn beyond_slots(&self) -> HashSet<SequenceId> {
        let mut holders: Vec<_> = self.holders().collect();
        if holders.len() > self.slots() {
            holders.sort_by_key(|id| self.sequences[id].last_step);
        }
        holders.into_iter().skip(self.slots()).collect()
    }

    /// The first in the order of arrival that may be admitted.
    pub(super) fn next_to_admit(&self) -> Option<SequenceId> {
        let most = self.config.max_admitted.max(self.config.max_running).max(1);
        let may_start = self.admitted < most;
        let queued = self.queued.first().filter(|_| may_start);
        queued.into_iter().chain(self.waiting.first()).min().copied()
    }

    // ANCHOR: admit
    /// Admits a waiting sequence, if there are blocks for all its tokens so far. It may take those
    /// of parked sequences, but not those of running ones.
    fn admit(&mut self, id: SequenceId, draft: &mut Draft<'_, M>) -> bool {
        let length = self.least_length(id);
        let Some(sequence) = self.sequences.get_mut(&id) else {
            return false;
        };
        let extension = sequence.extend(&mut self.blocks);
        while self.missing(id, length) > self.blocks.available() {
            let Some(parked) = self.last_parked_except(id) else {
                // Beside those that its own prefix cache gives up, which are no more than all that can
                // be had.
                let free = self.missing(id, length) - self.blocks.evictable();
                draft.shortage.get_or_insert((id, free));
                if let Some(sequence) = self.sequences.get_mut(&id) {
                    self.blocks.undo(&mut sequence.table, extension);
                }
                return false;
            };
            draft.plan.decisions.extend(self.take_blocks(parked));
        }
        if !self.is_paged && !self.reserve(id, length, draft) {
            return false;
        }
        self.count(id, extension);
        self.set_state(id, State::Running);
        let cached = self.sequences[&id].table.length();
        draft.plan.decisions.push(Decision::Admitted { id, cached });
        true
    }
    // ANCHOR_END: admit

    /// Lets a sequence read its next chunk, of up to `left` tokens, and returns their number.
    fn prefill(&mut self, id: SequenceId, left: usize, draft: &mut Draft<'_, M>) -> usize {
        let sequence = &self.sequences[&id];
        let is_aligned = sequence.table.length().is_multiple_of(self.blocks.block_size());
        let mut next = self.blocks.next_hashes(&sequence.table, &sequence.tokens);
        let is_in_progress = next.next().is_some_and(|hash| draft.in_progress.contains(&hash));
        if is_aligned && is_in_progress && sequence.may_share() {
            draft.plan.decisions.push(Decision::Deferred { id });
            return 0;
        }
        drop(next);
        let chunk = match self.config.policy {
            Policy::ChunkedPrefill => sequence.chunk,
            _ => usize::MAX,
        };
        let new = sequence.unread().min(left).min(chunk);
        let new = self.blocks.up_to_snapshot(&sequence.table, new, sequence.tokens.len());
        self.read(id, new, draft)
    }

    /// Appends to a running sequence what the prefix cache has of its next tokens.
    fn extend(&mut self, id: SequenceId) {
        if let Some(sequence) = self.sequences.get_mut(&id) {
            let extension = sequence.extend(&mut self.blocks);
            self.count(id, extension);
        }
    }

    /// Counts the blocks that a sequence has taken from the prefix cache. Those of its own that are behind
    /// the window now are given back.
    fn count(&mut self, id: SequenceId, extension: Extension) {
        self.blocks.count(extension);
        let Some(Sequence { table, prompt, preemptions, cached, .. }) = self.sequences.get_mut(&id)
        else {
            return;
        };
        if *preemptions == 0 {
            let before = table.length() - extension.found * self.blocks.block_size();
            *cached += table.length().min(*prompt) - before.min(*prompt);
        }
        self.blocks.slide(table);
    }

    /// Plans the next `new` tokens of a running sequence, or as many as there are blocks for, and
    /// returns their number. An earlier sequence takes blocks from a later one.
    fn read(&mut self, id: SequenceId, new: usize, draft: &mut Draft<'_, M>) -> usize {
        if let Some(sequence) = self.sequences.get_mut(&id) {
            // Also where there is no block for it: another one may have its slot then.
            sequence.last_step = self.stats.steps + 1;
        }
        // ANCHOR: read
        let start = self.sequences[&id].table.length();
        let mut end = start + new;
        while self.missing(id, end) > self.blocks.available() {
            if let Some(parked) = self.last_parked_except(id) {
                draft.plan.decisions.extend(self.take_blocks(parked));
            } else if let Some(later) = self.running.last().copied().filter(|&last| last > id) {
                draft.forget(later);
                draft.plan.decisions.extend(self.preempt(later));
            } else {
                // No later sequence is left: as much as there is room for.
                let table = &self.sequences[&id].table;
                end = self.blocks.most_positions(table, self.blocks.available());
                if end == start {
                    draft.shortage.get_or_insert((id, self.missing(id, start + 1)));
                    draft.plan.decisions.push(Decision::Stalled { id });
                    return 0;
                }
            }
        }
        // ANCHOR_END: read
        if end == start || !self.reserve(id, end, draft) {
            return 0;
        }
        let sequence = &self.sequences[&id];
        let positions = start..end;
        let logits = sequence.logits(&positions);
        draft.plan.decisions.push(if sequence.decodes() {
            Decision::Decode { id }
        } else {
            let tokens = &sequence.tokens[..end];
            draft.in_progress.extend(self.blocks.next_hashes(&sequence.table, tokens));
            Decision::Prefill { id, start, tokens: end - start }
        });
        draft.plan.chunks.push(Chunk { id, positions, drafted: 0, logits });
        end - start
    }

    /// Appends draft tokens to the decodes of a plan: as many as the rest of the token budget and the
    /// idle blocks hold. No sequence is preempted for them, and no block leaves a prefix cache. The
    /// last token that a sequence may have needs no draft: it comes from the logits of the one before.
    fn read_drafts(&mut self, budget: usize, plan: &mut Plan, turn: &Turn<'_, M>) {
        let mut left = budget.saturating_sub(plan.tokens());
        let mut decisions = Vec::new();
        for chunk in &mut plan.chunks {
            let Some(sequence) = self.sequences.get_mut(&chunk.id).filter(|found| found.decodes())
            else {
                continue;
            };
            let end = chunk.positions.end;
            let room = self.blocks.most_positions(&sequence.table, self.blocks.idle());
            let most = [
                left,
                sequence.max_length.saturating_sub(end + 1),
                room.saturating_sub(end),
                self.most_drafted,
            ];
            let drafted = most.into_iter().fold(sequence.draft.len(), usize::min);
            let table = &mut sequence.table;
            if drafted == 0 || self.blocks.reserve(table, end + drafted, turn).is_err() {
                continue;
            }
            left -= drafted;
            chunk.positions.end += drafted;
            chunk.drafted = drafted;
            chunk.logits = Logits::All;
            decisions.push(Decision::Draft { id: chunk.id, tokens: drafted });
        }
        plan.decisions.extend(decisions);
    }

    /// The number of blocks that a sequence lacks to hold `length` positions.
    fn missing(&self, id: SequenceId, length: usize) -> usize {
        self.blocks.missing(&self.sequences[&id].table, length)
    }

    /// Gives a sequence the blocks for `length` positions, which are available. False where the
    /// machine does not have the memory.
    fn reserve(&mut self, id: SequenceId, length: usize, draft: &mut Draft<'_, M>) -> bool {
        let missing = self.missing(id, length);
        let Some(Sequence { table, .. }) = self.sequences.get_mut(&id) else {
            return false;
        };
        match self.blocks.reserve(table, length, draft.turn) {
            Ok(()) => true,
            Err(error) => {
                draft.shortage.get_or_insert((id, missing));
                draft.failed.push((id, error));
                false
            }
        }
    }
}

impl<'a, M: Memory> Draft<'a, M> {
    fn new(turn: &'a Turn<'a, M>) -> Self {
        Self {
            turn,
            plan: Plan::default(),
            failed: Vec::new(),
            in_progress: HashSet::new(),
            has_preempted: false,
            shortage: None,
        }
    }

    /// Removes what was planned for a sequence that is preempted.
    fn forget(&mut self, id: SequenceId) {
        self.has_preempted = true;
        self.plan.chunks.retain(|chunk| chunk.id != id);
        self.plan.decisions.retain(|decision| decision.id() != id);
    }
}
