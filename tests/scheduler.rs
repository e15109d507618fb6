//! The scheduler and its blocks against a naive model, on random events.
//!
//! A block of the test holds one number for each position: a hash of the sequence's tokens up to
//! there, as keys and values depend on all of them. Each next token is a function of all numbers
//! that its sequence reads, so a block that is lost, stale or somebody else's changes the text.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::env;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use slowburn::engine::{Chunk, Decision, EngineConfig, Event, Plan, Policy, Scheduler, SequenceId};
use slowburn::kv::{Block, BlockId};
use slowburn::model::Logits;

/// A random number below `end`.
fn below(rng: &mut ChaCha8Rng, end: usize) -> usize {
    (rng.next_u64() % end as u64) as usize
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// What the position after `tokens` gets in the memory.
fn key_value(tokens: &[u32]) -> u64 {
    hash(tokens)
}

/// The positions that the last of `end` positions attends to.
fn read(end: usize, window: Option<usize>) -> Range<usize> {
    end.saturating_sub(window.unwrap_or(end))..end
}

/// The next token after all that a sequence reads. Few different ones, so that texts share
/// prefixes by chance too.
fn next_token(read: impl Iterator<Item = u64>) -> u32 {
    (hash(read.collect::<Vec<_>>()) % 3) as u32
}

/// The text that a prompt gets alone.
fn alone(prompt: &[u32], max_tokens: usize, window: Option<usize>) -> Vec<u32> {
    let mut tokens = prompt.to_vec();
    for _ in 0..max_tokens {
        let read = read(tokens.len(), window);
        let next = next_token(read.map(|position| key_value(&tokens[..=position])));
        tokens.push(next);
    }
    tokens
}

struct Request {
    prompt: Vec<u32>,
    /// The prompt, and the text that it gets alone.
    text: Vec<u32>,
    max_tokens: usize,
    is_paused: bool,
    /// Of so many positions of the prompt the logits have come. The whole prompt, where nobody
    /// wants them.
    scored: usize,
}

/// A scheduler, the memory of its blocks, and what the test knows of both.
struct World {
    config: EngineConfig,
    block_size: usize,
    /// How many positions a query attends to, up to its own and with it. None: all of them.
    window: Option<usize>,
    scheduler: Scheduler,
    memory: HashMap<BlockId, Vec<u64>>,
    requests: BTreeMap<SequenceId, Request>,
    running: BTreeSet<SequenceId>,
    /// Those that were ever admitted.
    admitted: BTreeSet<SequenceId>,
    next_id: u64,
    finished: usize,
    preempted: usize,
    over_budget: usize,
    shared: usize,
    /// Sequences that took the end of a prefix from the cache and not its beginning.
    without_beginning: usize,
    /// Tokens that were computed.
    computed: usize,
    /// Of them, those that got the token after one that was sampled.
    decoded: usize,
    /// Prompt tokens that were scored.
    scored: usize,
    /// Blocks that were given up for others.
    lent: usize,
    /// Draft tokens that were computed, and those of them that were sampled too.
    drafted: usize,
    accepted: usize,
    /// Steps of which it was known that they read no prompt.
    without_prompts: usize,
    /// Those of which not all rows were sampled from that could have been.
    unchecked: BTreeSet<SequenceId>,
    /// For draft tokens.
    rng: ChaCha8Rng,
}

impl World {
    fn new(rng: &mut ChaCha8Rng) -> Self {
        let policy = match below(rng, 8) {
            0 => Policy::OneAtATime,
            1 => Policy::StaticBatch,
            2 => Policy::ContinuousBatch,
            _ => Policy::ChunkedPrefill,
        };
        let config = EngineConfig {
            policy,
            max_running: 1 + below(rng, 6),
            max_admitted: 1 + below(rng, 10),
            token_budget: 1 + below(rng, 40),
            prefix_cache: below(rng, 8) > 0,
        };
        let (block_size, max_blocks) = (1 + below(rng, 5), 4 + below(rng, 30));
        let scheduler = Scheduler::new(config, block_size, max_blocks);
        let window = (below(rng, 2) == 0).then(|| 1 + below(rng, 20));
        Self {
            config,
            block_size,
            window,
            scheduler: match window {
                Some(window) => scheduler.with_window(window),
                None => scheduler,
            },
            memory: HashMap::new(),
            requests: BTreeMap::new(),
            running: BTreeSet::new(),
            admitted: BTreeSet::new(),
            next_id: 0,
            finished: 0,
            preempted: 0,
            over_budget: 0,
            shared: 0,
            without_beginning: 0,
            computed: 0,
            decoded: 0,
            scored: 0,
            lent: 0,
            drafted: 0,
            accepted: 0,
            without_prompts: 0,
            unchecked: BTreeSet::new(),
            rng: ChaCha8Rng::seed_from_u64(rng.next_u64()),
        }
    }

    fn arrive(&mut self, rng: &mut ChaCha8Rng) {
        let id = SequenceId(self.next_id);
        self.next_id += 1;
        // Prompts of one system prompt and a few tokens more or less, so that many share a prefix.
        let common = below(rng, 30);
        let own = below(rng, 6);
        let mut prompt: Vec<u32> = (0..common).map(|i| (i % 7) as u32).collect();
        prompt.extend((0..own).map(|_| below(rng, 2) as u32));
        if prompt.is_empty() {
            prompt.push(0);
        }
        let (mut max_tokens, chunk) = (1 + below(rng, 20), 1 + below(rng, 20));
        // Some want the logits of their prompt, and a few of them no token.
        let prompt_logits = below(rng, 4) == 0;
        if prompt_logits && below(rng, 4) == 0 {
            max_tokens = 0;
        }
        let length = prompt.len() + max_tokens;
        let capacity = self.scheduler.blocks().max_blocks() * self.block_size;
        let event = Event::Arrive { id, prompt: prompt.clone(), max_tokens, chunk, prompt_logits };
        assert_eq!(self.scheduler.handle(event).is_ok(), length <= capacity);
        if length <= capacity {
            let scored = if prompt_logits { 0 } else { prompt.len() };
            let text = alone(&prompt, max_tokens, self.window);
            let request = Request { prompt, text, max_tokens, is_paused: false, scored };
            self.requests.insert(id, request);
        }
    }

    fn handle(&mut self, event: Event) {
        self.scheduler.handle(event).unwrap();
    }

    fn any(&self, rng: &mut ChaCha8Rng) -> Option<SequenceId> {
        let index = below(rng, self.requests.len().max(1));
        self.requests.keys().nth(index).copied()
    }

    fn leave(&mut self, id: SequenceId) {
        self.requests.remove(&id);
        self.running.remove(&id);
        self.admitted.remove(&id);
        self.handle(Event::Leave { id });
    }

    /// Plans and runs a step. `fails` says whose part of it fails.
    fn step(&mut self, fails: Option<SequenceId>) {
        let decoding: Vec<SequenceId> =
            self.running.iter().copied().filter(|&id| self.decodes(id)).collect();
        self.draft();
        let reads_prompts = self.scheduler.reads_prompts();
        let plan = self.scheduler.plan();
        self.check_prompts(&plan, reads_prompts);
        self.unchecked.clear();
        self.check_plan(&plan, &decoding);
        for chunk in &plan.chunks {
            if fails == Some(chunk.id) {
                self.leave(chunk.id);
            } else {
                self.run(chunk);
            }
        }
        self.check_blocks();
    }

    /// What was said of the prompts before the plan was made.
    fn check_prompts(&mut self, plan: &Plan, said: bool) {
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

    /// Proposes draft tokens for some sequences, in whatever state these are. Most are right.
    fn draft(&mut self) {
        let ids: Vec<_> = self.requests.keys().copied().collect();
        for id in ids {
            if below(&mut self.rng, 2) == 0 {
                continue;
            }
            let done = self.scheduler.tokens(id).len();
            let most = below(&mut self.rng, 9);
            // Also beyond the end of the text.
            let rest = self.requests[&id].text[done..].iter().copied().chain([0; 9]);
            let tokens: Vec<u32> = rest.take(most).collect();
            let guess = |token| match below(&mut self.rng, 6) {
                0 => (token + 1) % 3,
                _ => token,
            };
            let tokens = tokens.into_iter().map(guess).collect();
            self.handle(Event::Draft { id, tokens });
        }
    }

    fn decodes(&self, id: SequenceId) -> bool {
        let tokens = self.scheduler.tokens(id).len();
        tokens > self.requests[&id].prompt.len()
            && self.scheduler.table(id).unwrap().length() + 1 == tokens
    }

    fn check_plan(&mut self, plan: &Plan, decoding: &[SequenceId]) {
        let mut waiting: BTreeSet<_> = self
            .requests
            .iter()
            .filter(|(id, request)| !request.is_paused && !self.running.contains(id))
            .map(|(&id, _)| id)
            .collect();
        let max_admitted = self.config.max_admitted.max(self.config.max_running);
        let mut over_budget = 0;
        for decision in &plan.decisions {
            match *decision {
                Decision::Admitted { id, cached } => {
                    let may_start = self.admitted.len() < max_admitted;
                    let is_next = |other: &&SequenceId| may_start || self.admitted.contains(other);
                    let next = waiting.iter().find(is_next).copied();
                    assert_eq!(next, Some(id), "in order of arrival: {plan:?}");
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
                Decision::Prefill { .. }
                | Decision::Decode { .. }
                | Decision::Draft { .. }
                | Decision::Deferred { .. }
                | Decision::Stalled { .. } => {}
            }
        }
        let max_running = match self.config.policy {
            Policy::OneAtATime => 1,
            _ => self.config.max_running,
        };
        assert!(self.running.len() <= max_running);
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
            let takes_part = in_plan.contains(id) || is_stalled;
            assert!(takes_part || !self.running.contains(id), "{id} gets no token: {plan:?}");
        }
        if self.config.policy == Policy::ChunkedPrefill {
            let most = self.config.token_budget.max(decoding.len() + 1);
            assert!(plan.tokens() <= most, "{} tokens: {plan:?}", plan.tokens());
        }
        if over_budget > 0 {
            self.over_budget += over_budget;
            // Who was preempted may have had one of the tokens.
            let is_preempted =
                |decision: &&Decision| matches!(decision, Decision::Preempted { .. });
            let preempted = plan.decisions.iter().filter(is_preempted).count();
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
            assert!(
                is_deferred || in_plan.contains(&first) || self.is_limited(),
                "{first} does not advance: {plan:?}"
            );
        }
        let may_start = self.admitted.len() < max_admitted;
        let is_runnable = self.requests.iter().any(|(id, request)| {
            !request.is_paused
                && (self.running.contains(id) || may_start || self.admitted.contains(id))
        });
        assert!(is_runnable || plan.tokens() == 0, "{plan:?}");
        if is_runnable && plan.tokens() == 0 {
            assert!(self.is_limited() && self.scheduler.shortage().is_some(), "{plan:?}");
        }
    }

    /// Computes one chunk on the memory, and samples where logits are wanted.
    fn run(&mut self, chunk: &Chunk) {
        let Chunk { id, positions, drafted, logits } = chunk;
        let tokens = self.scheduler.tokens(*id);
        let end = positions.end - drafted;
        let table = self.scheduler.table(*id).unwrap();
        assert_eq!(positions.start, table.length());
        assert!(positions.start < end && end <= tokens.len());
        assert!(*drafted == 0 || self.decodes(*id));
        assert!(positions.end < self.scheduler.max_length(*id) || *drafted == 0);
        let Request { prompt, scored, .. } = &self.requests[id];
        let is_last = end == tokens.len();
        let scores = *scored < prompt.len().min(positions.end);
        assert_eq!(
            *logits,
            match (scores || *drafted > 0, is_last) {
                (true, _) => Logits::All,
                (false, true) => Logits::Last,
                (false, false) => Logits::None,
            }
        );
        let to_score = self.scheduler.to_score(chunk);
        if scores {
            // The next tokens that were not scored, whatever is computed again before them.
            assert_eq!(to_score.start, *scored);
            assert_eq!(to_score.end, positions.end.clamp(*scored, prompt.len() - 1));
            assert!(positions.start <= *scored);
        } else {
            assert!(to_score.is_empty());
        }
        let with_draft = [&tokens[..positions.start], &self.scheduler.tokens_of(chunk)].concat();
        for position in positions.clone() {
            let block = &table.blocks()[position / self.block_size - table.first()];
            assert_eq!(self.scheduler.blocks().ref_count(block), 1, "a shared block is written to");
            let slots = self.memory.entry(block.id()).or_insert_with(|| vec![0; self.block_size]);
            slots[position % self.block_size] = key_value(&with_draft[..=position]);
        }
        let row = |end: usize| {
            next_token(read(end, self.window).map(|position| {
                let block = &table.blocks()[position / self.block_size - table.first()];
                self.memory[&block.id()][position % self.block_size]
            }))
        };
        let rows: Vec<u32> = (end..=positions.end).map(row).collect();
        let request = self.requests.get_mut(id).unwrap();
        request.scored = request.scored.max(end.min(request.prompt.len()));
        self.scored += to_score.len();
        self.computed += end - positions.start;
        self.drafted += drafted;
        self.decoded += usize::from(self.decodes(*id));
        self.scheduler.complete(std::slice::from_ref(chunk));
        if !is_last {
            return;
        }
        let id = *id;
        let Request { prompt, max_tokens, scored, .. } = &self.requests[&id];
        assert_eq!(*scored, prompt.len(), "a token is sampled after the whole prompt");
        let most = prompt.len() + max_tokens;
        for (index, token) in rows.into_iter().enumerate() {
            if self.scheduler.tokens(id).len() == most {
                break;
            }
            self.handle(Event::Token { id, token });
            let guess = with_draft.get(end + index);
            if guess.is_some() && guess != Some(&token) {
                break;
            }
            self.accepted += usize::from(guess.is_some());
            // A caller need not sample from all rows.
            if below(&mut self.rng, 20) == 0 {
                self.unchecked.insert(id);
                break;
            }
        }
        let tokens = self.scheduler.tokens(id);
        if tokens.len() == most {
            assert_eq!(tokens, self.requests[&id].text, "the text of {id}");
            self.finished += 1;
            self.leave(id);
        }
    }

    /// Every block has as many owners as tables hold it, and none is lost.
    fn check_blocks(&self) {
        let blocks = self.scheduler.blocks();
        let mut owners: HashMap<BlockId, (&Arc<Block>, usize)> = HashMap::new();
        for &id in self.requests.keys() {
            for block in self.scheduler.table(id).unwrap().blocks() {
                owners.entry(block.id()).or_insert((block, 0)).1 += 1;
            }
        }
        // Nobody keeps blocks for draft tokens that were rejected.
        for &id in self.requests.keys().filter(|id| !self.unchecked.contains(id)) {
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

    /// Whether others hold blocks.
    fn is_limited(&self) -> bool {
        let blocks = self.scheduler.blocks();
        blocks.limit() < blocks.max_blocks()
    }

    /// Others need blocks, and keep them for some time.
    fn lend(&mut self, blocks: usize, preempt: bool) {
        let holds =
            |world: &Self, id: SequenceId| !world.scheduler.table(id).unwrap().blocks().is_empty();
        let held = self.scheduler.blocks().held();
        let holders: Vec<_> = self.running.iter().copied().filter(|&id| holds(self, id)).collect();
        self.scheduler.lend(blocks, preempt);
        let left = self.scheduler.blocks().held();
        let asked = held.saturating_sub(blocks);
        // A sequence that is preempted may give up more than that.
        assert!(if preempt {
            left <= asked
        } else {
            left >= asked
        });
        let lost: Vec<_> = holders.iter().copied().filter(|&id| !holds(self, id)).collect();
        assert!(preempt || lost.is_empty());
        assert!(holders.ends_with(&lost), "the latest are preempted first");
        for id in lost {
            self.running.remove(&id);
        }
        self.lent += held - left;
        self.scheduler.set_limit(left);
    }

    /// Runs everything to its end.
    fn drain(&mut self) -> usize {
        self.scheduler.set_limit(usize::MAX);
        let ids: Vec<_> = self.requests.keys().copied().collect();
        for id in ids {
            self.resume(id);
        }
        let lengths =
            self.requests.values().map(|request| request.prompt.len() + request.max_tokens);
        let most = lengths.sum::<usize>() * (self.requests.len() + 1);
        let mut steps = 0;
        while !self.requests.is_empty() {
            self.step(None);
            steps += 1;
            assert!(steps <= most, "somebody starves");
        }
        assert_eq!(self.scheduler.blocks().owned(), 0);
        steps
    }

    fn pause(&mut self, id: SequenceId) {
        self.requests.get_mut(&id).unwrap().is_paused = true;
        self.running.remove(&id);
        self.handle(Event::Pause { id });
    }

    fn resume(&mut self, id: SequenceId) {
        self.requests.get_mut(&id).unwrap().is_paused = false;
        self.handle(Event::Resume { id });
    }
}

/// Plays random events, and returns how many, with what has happened.
fn play(seed: u64) -> (usize, World) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut world = World::new(&mut rng);
    let events = 50 + below(&mut rng, 300);
    for _ in 0..events {
        let any = world.any(&mut rng);
        match (below(&mut rng, 40), any) {
            (0..6, _) if world.requests.len() < 12 => world.arrive(&mut rng),
            (6..8, Some(id)) => world.pause(id),
            (8..11, Some(id)) => world.resume(id),
            (11, Some(id)) => world.leave(id),
            (12, any) => world.step(any),
            (13, _) if below(&mut rng, 10) == 0 => {
                world.scheduler.forget_blocks();
                world.memory.clear();
                world.running.clear();
            }
            (14, _) => {
                let preempt = below(&mut rng, 2) == 0;
                world.lend(below(&mut rng, 12), preempt);
            }
            (15..17, _) => world.scheduler.set_limit(usize::MAX),
            _ => world.step(None),
        }
    }
    let steps = world.drain();
    (events + steps, world)
}

#[test]
fn random_events_lose_no_block_starve_nobody_and_change_no_text() {
    let least = env::var("SLOWBURN_EVENTS").map_or(1_000_000, |events| events.parse().unwrap());
    let (mut events, mut finished, mut preempted, mut shared, mut evicted) = (0, 0, 0, 0, 0);
    let mut without_beginning = 0;
    let (mut scored, mut over_budget, mut lent) = (0, 0, 0);
    let (mut drafted, mut accepted, mut without_prompts) = (0, 0, 0);
    for seed in 0.. {
        if events >= least {
            break;
        }
        let (count, world) = play(seed);
        events += count;
        finished += world.finished;
        scored += world.scored;
        lent += world.lent;
        drafted += world.drafted;
        accepted += world.accepted;
        without_prompts += world.without_prompts;
        preempted += world.preempted;
        over_budget += world.over_budget;
        shared += world.shared;
        without_beginning += world.without_beginning;
        evicted += world.scheduler.blocks().prefix_stats().evictions;
    }
    // All that should be tested has happened.
    let rare = events / 200;
    assert!(finished > rare && preempted > rare && shared > rare && evicted > rare as u64);
    assert!(scored > rare && lent > rare && without_beginning > rare);
    assert!(accepted > rare && drafted - accepted > rare && without_prompts > rare);
    // Needs one before it that was deferred, or has come back.
    assert!(over_budget > 0);
}

fn scheduler(config: EngineConfig, max_blocks: usize) -> Scheduler {
    Scheduler::new(config, 4, max_blocks)
}

fn arrive(scheduler: &mut Scheduler, id: u64, prompt: &[u32], max_tokens: usize) {
    let (id, prompt) = (SequenceId(id), prompt.to_vec());
    let event = Event::Arrive {
        id,
        prompt,
        max_tokens,
        chunk: usize::MAX,
        prompt_logits: false,
    };
    scheduler.handle(event).unwrap();
}

/// Runs a step in which every sequence that may gets token 9.
fn step(scheduler: &mut Scheduler) -> Vec<String> {
    let plan = scheduler.plan();
    scheduler.complete(&plan.chunks);
    for Chunk { id, .. } in plan.chunks.iter().filter(|chunk| chunk.logits == Logits::Last) {
        scheduler.handle(Event::Token { id: *id, token: 9 }).unwrap();
    }
    plan.decisions.iter().map(ToString::to_string).collect()
}

#[test]
fn a_long_prompt_is_read_in_chunks_beside_the_decodes() {
    let config = EngineConfig { token_budget: 6, ..EngineConfig::default() };
    let mut scheduler = scheduler(config, 100);
    arrive(&mut scheduler, 0, &[1, 2], 9);
    assert_eq!(step(&mut scheduler), ["0 admitted", "0 prefill 0..2"]);
    arrive(&mut scheduler, 1, &[3; 12], 9);
    assert_eq!(step(&mut scheduler), ["0 decode", "1 admitted", "1 prefill 0..5"]);
    assert_eq!(step(&mut scheduler), ["0 decode", "1 prefill 5..10"]);
    assert_eq!(step(&mut scheduler), ["0 decode", "1 prefill 10..12"]);
    assert_eq!(step(&mut scheduler), ["0 decode", "1 decode"]);
}

/// A sequence that was admitted beside an earlier one, which was deferred and now takes all tokens.
#[test]
fn a_running_prompt_that_gets_no_token_of_the_step_is_over_budget() {
    let config = EngineConfig { token_budget: 8, ..EngineConfig::default() };
    let mut scheduler = scheduler(config, 100);
    arrive(&mut scheduler, 0, &[5, 6, 7, 8, 5], 9);
    arrive(&mut scheduler, 1, &[[5, 6, 7, 8].as_slice(), &[1; 10]].concat(), 9);
    arrive(&mut scheduler, 2, &[2; 6], 9);
    assert_eq!(step(&mut scheduler).last().unwrap(), "2 prefill 0..3");
    let over_budget = "2 deferred: the token budget is spent";
    assert_eq!(step(&mut scheduler), ["0 decode", "1 prefill 4..11", over_budget]);
    assert_eq!(step(&mut scheduler), ["0 decode", "1 prefill 11..14", "2 prefill 3..6"]);
}

#[test]
fn equal_prompts_that_arrive_together_are_computed_once() {
    let mut scheduler = scheduler(EngineConfig::default(), 100);
    for id in 0..3 {
        arrive(&mut scheduler, id, &[5, 6, 7, 8, 5, 6, 7, 8, 5], 9);
    }
    let first = step(&mut scheduler);
    assert_eq!(first[1], "0 prefill 0..9");
    assert_eq!(first[3], "1 deferred: its next block is being computed");
    let second = step(&mut scheduler);
    assert_eq!(second, ["0 decode", "1 prefill 8..9", "2 prefill 8..9"]);
    assert_eq!(scheduler.cached_tokens(SequenceId(2)), 8);
    assert_eq!(scheduler.blocks().owned(), 2 + 3);
}

/// The blocks behind the window were evicted: those that the next position reads are enough.
#[test]
fn a_prefix_is_found_by_the_blocks_of_its_window() {
    let prompt: Vec<u32> = (0..21).collect();
    let cached = |window: usize| {
        let mut scheduler = scheduler(EngineConfig::default(), 8).with_window(window);
        arrive(&mut scheduler, 0, &prompt, 1);
        step(&mut scheduler);
        scheduler.handle(Event::Leave { id: SequenceId(0) }).unwrap();
        assert_eq!(scheduler.blocks().evictable(), 5);
        // Takes three blocks that are free, and two that are cached: the first that were given back.
        arrive(&mut scheduler, 1, &[99; 17], 1);
        step(&mut scheduler);
        scheduler.handle(Event::Leave { id: SequenceId(1) }).unwrap();
        assert_eq!(scheduler.blocks().prefix_stats().evictions, 2);
        arrive(&mut scheduler, 2, &prompt, 1);
        let decisions = step(&mut scheduler);
        let table = scheduler.table(SequenceId(2)).unwrap();
        assert_eq!(table.first() + table.blocks().len(), 6, "{decisions:?}");
        scheduler.cached_tokens(SequenceId(2))
    };
    // The position 20 reads those from 20 - 11 on, which are in the blocks 2, 3 and 4.
    assert_eq!(cached(12), 20);
    assert_eq!(cached(13), 20);
    // Here it also reads position 7, in a block that is gone.
    assert_eq!(cached(14), 0);
}

#[test]
fn a_prompt_that_is_cached_to_its_end_still_computes_its_last_token() {
    let mut scheduler = scheduler(EngineConfig::default(), 100);
    arrive(&mut scheduler, 0, &[1; 8], 1);
    step(&mut scheduler);
    arrive(&mut scheduler, 1, &[1; 8], 1);
    let decisions = step(&mut scheduler);
    assert_eq!(decisions[1..], ["1 admitted, 4 tokens from the cache", "1 prefill 4..8"]);
    assert_eq!(scheduler.tokens(SequenceId(1)), [1, 1, 1, 1, 1, 1, 1, 1, 9]);
}

/// It computes all of its prompt, though the cache has the beginning, and others find what it has
/// computed.
#[test]
fn a_prompt_that_is_scored_takes_nothing_from_the_prefix_cache_but_fills_it() {
    let mut scheduler = scheduler(EngineConfig::default(), 100);
    let arrive = |scheduler: &mut Scheduler, id, length, prompt_logits| {
        let (id, prompt) = (SequenceId(id), (0..length).collect());
        let (max_tokens, chunk) = (1, usize::MAX);
        let event = Event::Arrive { id, prompt, max_tokens, chunk, prompt_logits };
        scheduler.handle(event).unwrap();
    };
    arrive(&mut scheduler, 0, 5, false);
    step(&mut scheduler);
    arrive(&mut scheduler, 1, 13, true);
    // Nor does it wait for a block that another one computes.
    arrive(&mut scheduler, 2, 13, true);
    arrive(&mut scheduler, 3, 13, false);
    let decisions = step(&mut scheduler);
    assert_eq!(
        decisions[1..5],
        [
            "1 admitted",
            "1 prefill 0..13",
            "2 admitted",
            "2 prefill 0..13"
        ]
    );
    assert_eq!(decisions[5], "3 admitted, 4 tokens from the cache");
    assert_eq!(step(&mut scheduler).last().unwrap(), "3 prefill 12..13");
    let cached = [1, 2, 3].map(|id| scheduler.cached_tokens(SequenceId(id)));
    assert_eq!(cached, [0, 0, 12]);
}

#[test]
fn the_youngest_is_preempted_and_comes_back() {
    let mut scheduler =
        scheduler(EngineConfig { prefix_cache: false, ..EngineConfig::default() }, 4);
    arrive(&mut scheduler, 0, &[1; 6], 8);
    arrive(&mut scheduler, 1, &[2; 6], 8);
    for _ in 0..3 {
        step(&mut scheduler);
    }
    // Both fill their second block.
    assert_eq!(step(&mut scheduler), ["1 preempted, 8 tokens to compute again", "0 decode"]);
    assert_eq!((scheduler.running(), scheduler.suspended()), (1, 1));
    assert_eq!(step(&mut scheduler), ["0 decode"]);
    scheduler.handle(Event::Leave { id: SequenceId(0) }).unwrap();
    assert_eq!(step(&mut scheduler), ["1 admitted", "1 prefill 0..9"]);
    assert_eq!(scheduler.preemptions(SequenceId(1)), 1);
}

#[test]
fn the_paused_give_up_their_blocks_first_and_wait_for_a_slot() {
    let config = EngineConfig {
        max_running: 2,
        prefix_cache: false,
        ..EngineConfig::default()
    };
    let mut scheduler = scheduler(config, 5);
    arrive(&mut scheduler, 0, &[1; 6], 2);
    arrive(&mut scheduler, 1, &[2; 6], 8);
    step(&mut scheduler);
    scheduler.handle(Event::Pause { id: SequenceId(0) }).unwrap();
    arrive(&mut scheduler, 2, &[3; 6], 8);
    // Paused, 0 keeps its blocks until somebody needs them.
    let decisions = step(&mut scheduler);
    assert_eq!(decisions[1], "0 preempted, 6 tokens to compute again");
    assert_eq!(decisions[2..], ["2 admitted", "2 prefill 0..6"]);
    // Resumed, it has no slot.
    scheduler.handle(Event::Resume { id: SequenceId(0) }).unwrap();
    assert_eq!(step(&mut scheduler), ["1 decode", "2 decode"]);
    scheduler.handle(Event::Leave { id: SequenceId(2) }).unwrap();
    assert_eq!(step(&mut scheduler)[1..], ["0 admitted", "0 prefill 0..7"]);
}

#[test]
fn limits_of_zero_mean_one() {
    let config = EngineConfig {
        max_running: 0,
        max_admitted: 0,
        token_budget: 0,
        ..EngineConfig::default()
    };
    let mut scheduler = scheduler(config, 100);
    arrive(&mut scheduler, 0, &[1; 2], 9);
    arrive(&mut scheduler, 1, &[2; 2], 9);
    assert_eq!(step(&mut scheduler), ["0 admitted", "0 prefill 0..1"]);
    assert_eq!(step(&mut scheduler), ["0 prefill 1..2"]);
    scheduler.handle(Event::Leave { id: SequenceId(0) }).unwrap();
    assert_eq!(step(&mut scheduler), ["1 admitted", "1 prefill 0..1"]);
}

#[test]
fn what_could_never_fit_is_refused_when_it_arrives() {
    let mut scheduler = scheduler(EngineConfig::default(), 4);
    let event = Event::Arrive {
        id: SequenceId(0),
        prompt: vec![1; 9],
        max_tokens: 8,
        chunk: 1,
        prompt_logits: false,
    };
    let error = scheduler.handle(event).unwrap_err().to_string();
    assert!(error.contains("17 tokens") && error.contains("room for 16"), "{error}");
    assert!(scheduler.is_empty());
}

#[test]
fn policies_differ_in_who_takes_part() {
    let decisions = |policy| {
        let config = EngineConfig {
            policy,
            max_running: 2,
            token_budget: 4,
            prefix_cache: false,
            ..EngineConfig::default()
        };
        let mut scheduler = scheduler(config, 100);
        arrive(&mut scheduler, 0, &[1; 6], 2);
        arrive(&mut scheduler, 1, &[2; 3], 9);
        let mut all = vec![step(&mut scheduler)];
        scheduler.handle(Event::Leave { id: SequenceId(0) }).unwrap();
        arrive(&mut scheduler, 2, &[3; 2], 2);
        all.push(step(&mut scheduler));
        all.concat()
    };
    let one = [
        "0 admitted",
        "0 prefill 0..6",
        "1 admitted",
        "1 prefill 0..3",
    ];
    assert_eq!(decisions(Policy::OneAtATime), one);
    let together = [
        "0 admitted",
        "0 prefill 0..6",
        "1 admitted",
        "1 prefill 0..3",
        "1 decode",
    ];
    assert_eq!(decisions(Policy::StaticBatch), together);
    let joins = [&together[..], &["2 admitted", "2 prefill 0..2"]].concat();
    assert_eq!(decisions(Policy::ContinuousBatch), joins);
    let chunks = [
        "0 admitted",
        "0 prefill 0..4",
        "1 admitted",
        "1 prefill 0..3",
        "2 admitted",
        "2 prefill 0..1",
    ];
    assert_eq!(decisions(Policy::ChunkedPrefill), chunks);
}
