//! The scheduler and its blocks against a naive model, on random events.
//!
//! A block of the test holds one number for each position: a hash of the sequence's tokens up to
//! there, as keys and values depend on all of them. Each next token is a function of all numbers
//! that its sequence reads, so a block that is lost, stale or somebody else's changes the text.

mod checks;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::env;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use slowburn::engine::{Chunk, EngineConfig, Event, Policy, Scheduler, SequenceId};
use slowburn::kv::BlockId;
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

/// The tokens that a sequence gets from a step.
#[derive(Default)]
struct Chosen {
    tokens: Vec<u32>,
    /// How many of them were draft tokens.
    accepted: usize,
    /// Whether there were rows for more.
    is_partial: bool,
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
    /// Those whose tokens are still being chosen.
    choosing: BTreeMap<SequenceId, Chosen>,
    /// Steps in which others took the slots of those, and how many in a row have passed each one by.
    without_slot: usize,
    passed_by: BTreeMap<SequenceId, usize>,
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
            choosing: BTreeMap::new(),
            without_slot: 0,
            passed_by: BTreeMap::new(),
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
        self.choosing.remove(&id);
        self.passed_by.remove(&id);
        self.handle(Event::Leave { id });
    }

    /// Whether all its tokens were computed.
    fn awaits_token(&self, id: SequenceId) -> bool {
        self.scheduler.table(id).unwrap().length() == self.scheduler.tokens(id).len()
    }

    /// Plans and runs a step. `fails` says whose part of it fails.
    fn step(&mut self, fails: Option<SequenceId>) {
        let decoding: Vec<SequenceId> =
            self.running.iter().copied().filter(|&id| self.decodes(id)).collect();
        let choosing: BTreeSet<SequenceId> =
            self.requests.keys().copied().filter(|&id| self.awaits_token(id)).collect();
        self.draft();
        let reads_prompts = self.scheduler.reads_prompts();
        let plan = self.scheduler.plan();
        self.check_prompts(&plan, reads_prompts);
        self.unchecked.clear();
        self.check_plan(&plan, &decoding, &choosing);
        for chunk in &plan.chunks {
            if fails == Some(chunk.id) {
                self.leave(chunk.id);
            } else {
                self.run(chunk);
            }
        }
        self.check_blocks();
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
        let length = self.scheduler.tokens(id).len();
        let mut chosen = Chosen::default();
        for (index, token) in rows.into_iter().enumerate() {
            if length + index == most {
                break;
            }
            chosen.tokens.push(token);
            let guess = with_draft.get(end + index);
            if guess.is_some() && guess != Some(&token) {
                break;
            }
            chosen.accepted += usize::from(guess.is_some());
            // A caller need not sample from all rows.
            if below(&mut self.rng, 20) == 0 {
                chosen.is_partial = true;
                break;
            }
        }
        // It was preempted and computed again, and its tokens are being chosen already.
        if self.choosing.contains_key(&id) {
            return;
        }
        if below(&mut self.rng, 4) == 0 {
            self.choosing.insert(id, chosen);
        } else {
            self.accepted += chosen.accepted;
            self.push(id, chosen);
        }
    }

    /// The tokens of some sequences have been chosen.
    fn choose(&mut self, all: bool) {
        for id in self.choosing.keys().copied().collect::<Vec<_>>() {
            if (all || below(&mut self.rng, 3) == 0)
                && let Some(chosen) = self.choosing.remove(&id)
            {
                // Nothing is left of the draft of one that was paused or preempted meanwhile, and one that was
                // computed again may have another.
                let before = self.scheduler.stats().accepted_tokens;
                let most = chosen.tokens.len();
                self.push(id, chosen);
                let accepted = (self.scheduler.stats().accepted_tokens - before) as usize;
                assert!(accepted <= most);
                self.accepted += accepted;
            }
        }
    }

    fn push(&mut self, id: SequenceId, chosen: Chosen) {
        for token in chosen.tokens {
            self.handle(Event::Token { id, token });
        }
        self.unchecked.extend(chosen.is_partial.then_some(id));
        let Request { prompt, max_tokens, .. } = &self.requests[&id];
        let most = prompt.len() + max_tokens;
        let tokens = self.scheduler.tokens(id);
        if tokens.len() == most {
            assert_eq!(tokens, self.requests[&id].text, "the text of {id}");
            self.finished += 1;
            self.leave(id);
        }
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
            self.choose(true);
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
            (17..22, _) => world.choose(false),
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
    let mut without_slot = 0;
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
        without_slot += world.without_slot;
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
    assert!(over_budget > 0 && without_slot > 0);
}
