//! What must hold of a plan, and after it.

use std::sync::Arc;

use slowburn::engine::{Decision, Plan};
use slowburn::kv::Block;

use super::*;

impl World {
    /// What was said of the prompts before the plan was made.
    pub(super) fn check_prompts(&mut self, plan: &Plan, said: bool) {
        self.without_prompts += usize::from(!said && !plan.chunks.is_empty());
        let reads = plan.decisions.iter().any(|of| matches!(of, Decision::Prefill { .. }));
        // Only the plan finds what is in the prefix cache, and whom it preempts.
        let frees = |of: &Decision| {
            matches!(of, Decision::Admitted { cached: 1.., .. } | Decision::Preempted { .. })
        };
        // Blocks of rejected draft tokens may come back with the plan, too.
        let is_freed = !self.unchecked.is_empty() || plan.decisions.iter().any(frees);
        assert!(said || !reads || is_freed, "nobody knew of the prompts: {plan:?}");
    }

    /// `decoding` and `choosing` say who had read all tokens but the last, or all, before the plan was made.
    pub(super) fn check_plan(
        &mut self,
        plan: &Plan,
        decoding: &[SequenceId],
        choosing: &BTreeSet<SequenceId>,
    ) {
        let mut waiting: BTreeSet<_> = self
            .requests
            .iter()
            .filter(|(id, request)| !request.is_paused && !self.running.contains(id))
            .map(|(&id, _)| id)
            .collect();
        let max_admitted = self.config.max_admitted.max(self.config.max_running);
        let (mut over_budget, mut admits) = (0, false);
        let mut without_slot = BTreeSet::new();
        for decision in &plan.decisions {
            match *decision {
                Decision::Admitted { id, cached } => {
                    let may_start = self.admitted.len() < max_admitted;
                    let is_next = |other: &&SequenceId| may_start || self.admitted.contains(other);
                    let next = waiting.iter().find(is_next).copied();
                    assert_eq!(next, Some(id), "in order of arrival: {plan:?}");
                    admits = true;
                    waiting.remove(&id);
                    self.running.insert(id);
                    self.admitted.insert(id);
                    assert!(self.admitted.len() <= max_admitted);
                    self.shared += cached;
                    let first = self.scheduler.table(id).unwrap().first();
                    self.without_beginning += usize::from(cached > 0 && first > 0);
                }
                Decision::Preempted { id, .. } => {
                    self.preempted += 1;
                    if self.running.remove(&id) {
                        let oldest = self.running.first().copied();
                        assert!(oldest.is_some_and(|oldest| oldest < id), "the oldest: {plan:?}");
                        waiting.insert(id);
                    }
                }
                Decision::OverBudget { id } => {
                    assert_eq!(self.config.policy, Policy::ChunkedPrefill);
                    assert!(!decoding.contains(&id), "a decode waits for the budget: {plan:?}");
                    over_budget += 1;
                }
                Decision::NoSlot { id } => drop(without_slot.insert(id)),
                Decision::Prefill { .. }
                | Decision::Decode { .. }
                | Decision::Draft { .. }
                | Decision::Deferred { .. }
                | Decision::Choosing { .. }
                | Decision::Stalled { .. } => {}
            }
        }
        let max_running = match self.config.policy {
            Policy::OneAtATime => 1,
            _ => self.config.max_running,
        };
        let joins_at_any_step =
            matches!(self.config.policy, Policy::ContinuousBatch | Policy::ChunkedPrefill);
        // Those whose tokens are still being chosen keep nobody out.
        let holds_slot = |id: &&SequenceId| !joins_at_any_step || !choosing.contains(id);
        let holders = self.running.iter().filter(holds_slot).count();
        assert!(plan.chunks.len() <= max_running);
        if admits || !joins_at_any_step {
            assert!(holders <= max_running && without_slot.is_empty(), "{plan:?}");
        }
        // Not one that has lost its blocks, and is computed again.
        let still = |id: &&SequenceId| self.running.contains(id) && self.awaits_token(**id);
        for id in choosing.iter().filter(still) {
            assert!(plan.decisions.contains(&Decision::Choosing { id: *id }), "{plan:?}");
        }
        // Whoever has no slot has one after a few steps.
        let is_preempted = |of: &Decision| matches!(of, Decision::Preempted { .. });
        if !without_slot.is_empty() {
            self.without_slot += 1;
            let preempts = plan.decisions.iter().any(is_preempted);
            assert!(holders > max_running || preempts, "{plan:?}");
        }
        self.passed_by.retain(|id, _| without_slot.contains(id));
        for &id in &without_slot {
            let times = self.passed_by.entry(id).or_default();
            *times += 1;
            assert!(*times <= 24, "{id} is passed by: {plan:?}");
        }
        assert_eq!(self.scheduler.running(), self.running.len());
        assert_eq!(self.scheduler.suspended(), self.admitted.len() - self.running.len());

        // Nobody waits for a token because others read their prompts.
        let in_plan: BTreeSet<_> = plan.chunks.iter().map(|chunk| chunk.id).collect();
        assert_eq!(in_plan.len(), plan.chunks.len());
        assert!(in_plan.is_subset(&self.running));
        for id in decoding {
            // But the last in the order may have to wait for a block.
            let is_stalled = plan.decisions.contains(&Decision::Stalled { id: *id });
            if is_stalled && self.running.contains(id) {
                assert_eq!(self.running.last(), Some(id));
            }
            let takes_part = in_plan.contains(id) || is_stalled || without_slot.contains(id);
            assert!(takes_part || !self.running.contains(id), "{id} gets no token: {plan:?}");
        }
        if self.config.policy == Policy::ChunkedPrefill {
            let most = self.config.token_budget.max(decoding.len() + 1);
            assert!(plan.tokens() <= most, "{} tokens: {plan:?}", plan.tokens());
        }
        if over_budget > 0 {
            self.over_budget += over_budget;
            // Who was preempted may have had one of the tokens.
            let preempted = plan.decisions.iter().filter(|of| is_preempted(of)).count();
            assert!(plan.tokens() + preempted >= self.config.token_budget, "{plan:?}");
        }
        // Of whoever runs, the plan says what it does, or why nothing.
        for &id in &self.running {
            let is_said = |decision: &Decision| {
                decision.id() == id && !matches!(decision, Decision::Admitted { .. })
            };
            assert!(plan.decisions.iter().any(is_said), "nothing is said of {id}: {plan:?}");
        }
        // The first in the order of arrival advances, if only by a block that somebody else computes.
        if let Some(&first) = self.running.first() {
            let is_deferred = plan.decisions.contains(&Decision::Deferred { id: first });
            let waits = choosing.contains(&first) || without_slot.contains(&first);
            assert!(
                is_deferred || waits || in_plan.contains(&first) || self.is_limited(),
                "{first} does not advance: {plan:?}"
            );
        }
        let may_start = self.admitted.len() < max_admitted;
        let is_runnable = self.requests.iter().any(|(id, request)| {
            !request.is_paused
                && !choosing.contains(id)
                && (self.running.contains(id)
                    || (joins_at_any_step || choosing.is_disjoint(&self.running))
                        && (may_start || self.admitted.contains(id)))
        });
        assert!(is_runnable || plan.tokens() == 0, "{plan:?}");
        if is_runnable && plan.tokens() == 0 {
            // Others hold the blocks, or those whose tokens are being chosen do.
            let have_blocks = !choosing.is_empty() || !without_slot.is_empty();
            assert!(self.is_limited() || have_blocks, "{plan:?}");
            assert!(self.scheduler.shortage().is_some(), "{plan:?}");
        }
    }

    /// Every block has as many owners as tables hold it, and none is lost.
    pub(super) fn check_blocks(&self) {
        let blocks = self.scheduler.blocks();
        let mut owners: HashMap<BlockId, (&Arc<Block>, usize)> = HashMap::new();
        for &id in self.requests.keys() {
            for block in self.scheduler.table(id).unwrap().blocks() {
                owners.entry(block.id()).or_insert((block, 0)).1 += 1;
            }
        }
        // Nobody keeps blocks for draft tokens that were rejected.
        let is_settled =
            |id: &&SequenceId| !self.unchecked.contains(id) && !self.choosing.contains_key(id);
        for &id in self.requests.keys().filter(is_settled) {
            let table = self.scheduler.table(id).unwrap();
            let end = table.first() + table.blocks().len();
            assert_eq!(end, table.length().div_ceil(self.block_size), "{id}");
            // Nor those that no query reads again.
            let read = read(table.length() + 1, self.window);
            assert_eq!(table.first(), read.start / self.block_size, "{id}");
        }
        for (id, (block, count)) in &owners {
            assert_eq!(blocks.ref_count(block), *count, "block {id}");
        }
        // What is held is memory of the pool, and nothing else is.
        assert_eq!(blocks.pool().bytes(), blocks.held() * blocks.pool().block_bytes());
        assert_eq!(blocks.owned(), owners.len());
        assert_eq!(blocks.owned() + blocks.available(), blocks.limit());
        assert!(blocks.held() <= blocks.limit());
        let counts = blocks.counts();
        assert_eq!((counts.used, counts.cached), (owners.len(), blocks.evictable()));
        assert_eq!(counts.used + counts.cached + counts.free, counts.total);
        let stats = self.scheduler.stats();
        assert_eq!(stats.decode_tokens, self.decoded as u64);
        assert_eq!(stats.prefill_tokens, (self.computed - self.decoded) as u64);
        assert_eq!(stats.preemptions, self.preempted as u64);
        assert_eq!(stats.drafted_tokens, self.drafted as u64);
        assert_eq!(stats.accepted_tokens, self.accepted as u64);
    }
}
