use std::collections::BTreeMap;
use std::fmt::{Debug, Formatter};

use slowburn::engine::{EngineConfig, Event as Happened, Policy, Scheduler, SequenceId};
use slowburn::model::Logits;

use super::batch_step::{Batch, Chunk, Event, Finish, Limits, Request};
use crate::support::{Case, Random};

const EOS: u32 = 0;

/// A model that reads what it is given, and knows the next token of each sequence.
struct Model {
    /// What was read of each sequence.
    read: BTreeMap<u64, Vec<u32>>,
    /// The tokens that are drawn, by id, the next one last. Behind them each draws [`ALWAYS`].
    script: BTreeMap<u64, Vec<u32>>,
    passes: Vec<Vec<Chunk>>,
    /// For whom a token was drawn in the last step, and from whose logits.
    drawn: Vec<(u64, u64)>,
}

const ALWAYS: u32 = 7;

impl Model {
    fn new(script: &[(u64, &[u32])]) -> Self {
        let script =
            script.iter().map(|(id, tokens)| (*id, tokens.iter().rev().copied().collect()));
        Self {
            read: BTreeMap::new(),
            script: script.collect(),
            passes: Vec::new(),
            drawn: Vec::new(),
        }
    }

    /// One step of the batch.
    fn step(&mut self, case: &Case, batch: &mut Batch) -> Vec<Event> {
        let Self { read, script, passes, drawn } = self;
        let first = passes.len();
        drawn.clear();
        let mut pass = |chunks: &[Chunk]| {
            passes.push(chunks.to_vec());
            case.holds(passes.len() == first + 1, "one pass in a step", "another one");
            case.holds(!chunks.is_empty(), "no pass without a chunk", "a pass of no chunks");
            let mut logits = Vec::new();
            for chunk in chunks {
                let read = read.entry(chunk.id).or_default();
                case.holds(
                    chunk.start == read.len(),
                    &format!("chunk of {} from position {}", chunk.id, read.len()),
                    chunk,
                );
                case.holds(!chunk.tokens.is_empty(), "at least one token in a chunk", chunk);
                read.extend(&chunk.tokens);
                if chunk.wants_logits {
                    // They say whose they are.
                    logits.push(vec![chunk.id as f32]);
                }
            }
            logits
        };
        let mut sample = |id: u64, logits: &[f32]| {
            let of = logits.first().map_or(u64::MAX, |of| *of as u64);
            drawn.push((id, of));
            script.get_mut(&id).and_then(Vec::pop).unwrap_or(ALWAYS)
        };
        let events = batch.step(&mut pass, &mut sample);
        for (id, of) in &self.drawn {
            case.equal(
                format!("{id} draws from the logits of {id}"),
                format!("{id} draws from the logits of {of}"),
            );
        }
        let wanted = self.passes[first..].iter().flatten().filter(|chunk| chunk.wants_logits);
        let wanted: Vec<u64> = wanted.map(|chunk| chunk.id).collect();
        let drew: Vec<u64> = self.drawn.iter().map(|(id, _)| *id).collect();
        case.equal(("sampled for", wanted), ("sampled for", drew));
        events
    }

    /// The chunks of the last step.
    fn chunks(&self, passes_before: usize) -> Chunks {
        Chunks(self.passes[passes_before..].concat())
    }
}

/// Chunks, as in the task: `A from 0: 5 6, logits`, with numbers for names.
#[derive(PartialEq)]
struct Chunks(Vec<Chunk>);

impl Debug for Chunks {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let shown = self.0.iter().map(|Chunk { id, start, tokens, wants_logits }| {
            let logits = if *wants_logits { ", logits" } else { "" };
            format!("{id} from {start}: {tokens:?}{logits}")
        });
        formatter.write_str(&shown.collect::<Vec<_>>().join("; "))
    }
}

fn chunks(chunks: &[(u64, usize, &[u32], bool)]) -> Chunks {
    let chunk = |&(id, start, tokens, wants_logits): &(u64, usize, &[u32], bool)| Chunk {
        id,
        start,
        tokens: tokens.to_vec(),
        wants_logits,
    };
    Chunks(chunks.iter().map(chunk).collect())
}

fn request(id: u64, prompt: &[u32], max_tokens: usize) -> Request {
    Request { id, prompt: prompt.to_vec(), max_tokens }
}

fn case(rule: &str, (token_budget, max_running): (usize, usize), requests: &[Request]) -> Case {
    Case::rule(rule)
        .given("token_budget, max_running, eos", (token_budget, max_running, EOS))
        .given("requests", requests)
}

fn batch((token_budget, max_running): (usize, usize), requests: &[Request]) -> Batch {
    let mut batch = Batch::new(Limits { token_budget, max_running }, EOS);
    requests.iter().for_each(|request| batch.submit(request.clone()));
    batch
}

/// Steps, and what each must read and tell.
type Expected<'a> = (&'a [(u64, usize, &'a [u32], bool)], &'a [Event]);

fn check(
    rule: &str,
    limits: (usize, usize),
    requests: &[Request],
    script: &[(u64, &[u32])],
    steps: &[Expected<'_>],
) {
    let case = case(rule, limits, requests);
    let mut model = Model::new(script);
    let mut batch = batch(limits, requests);
    for (number, (expected, events)) in (1..).zip(steps) {
        case.step(format!("step {number}"));
        let before = model.passes.len();
        let found = model.step(&case, &mut batch);
        case.equal(chunks(expected), model.chunks(before));
        case.equal(events.to_vec(), found);
    }
}

fn token(id: u64, token: u32) -> Event {
    Event::Token { id, token }
}

fn end(id: u64, finish: Finish) -> Event {
    Event::End { id, finish }
}

#[test]
fn a_prompt_is_read_in_chunks_and_its_last_one_has_logits() {
    check(
        "a chunk has as many tokens as the budget allows; logits are wanted with the last token of a sequence",
        (2, 1),
        &[request(4, &[1, 2, 3, 4, 5], 2)],
        &[],
        &[
            (&[(4, 0, &[1, 2], false)], &[]),
            (&[(4, 2, &[3, 4], false)], &[]),
            (&[(4, 4, &[5], true)], &[token(4, ALWAYS)]),
            (&[(4, 5, &[ALWAYS], true)], &[token(4, ALWAYS), end(4, Finish::Length)]),
        ],
    );
}

#[test]
fn prompts_share_what_decodes_leave() {
    check(
        "the prompts of one step share the budget, first come, first served, and several are admitted at once",
        (6, 4),
        &[
            request(8, &[1, 2], 9),
            request(7, &[3], 9),
            request(2, &[4, 5, 6, 8, 9], 9),
            request(1, &[5], 9),
        ],
        &[],
        &[
            (
                &[
                    (8, 0, &[1, 2], true),
                    (7, 0, &[3], true),
                    (2, 0, &[4, 5, 6], false),
                ],
                &[token(8, ALWAYS), token(7, ALWAYS)],
            ),
            (
                &[
                    (8, 2, &[7], true),
                    (7, 1, &[7], true),
                    (2, 3, &[8, 9], true),
                    (1, 0, &[5], true),
                ],
                &[
                    token(8, ALWAYS),
                    token(7, ALWAYS),
                    token(2, ALWAYS),
                    token(1, ALWAYS),
                ],
            ),
        ],
    );
}

#[test]
fn decodes_come_first_whatever_the_budget() {
    check(
        "all that decode read one token, and one token is left for prompts even if the budget is used up",
        (2, 4),
        &[
            request(9, &[1], 9),
            request(3, &[2], 9),
            request(5, &[3, 4, 5], 9),
            request(1, &[6], 9),
        ],
        &[],
        &[
            (&[(9, 0, &[1], true), (3, 0, &[2], true)], &[token(9, ALWAYS), token(3, ALWAYS)]),
            (
                &[(9, 1, &[7], true), (3, 1, &[7], true), (5, 0, &[3], false)],
                &[token(9, ALWAYS), token(3, ALWAYS)],
            ),
            (
                &[(9, 2, &[7], true), (3, 2, &[7], true), (5, 1, &[4], false)],
                &[token(9, ALWAYS), token(3, ALWAYS)],
            ),
            (
                &[(9, 3, &[7], true), (3, 3, &[7], true), (5, 2, &[5], true)],
                &[token(9, ALWAYS), token(3, ALWAYS), token(5, ALWAYS)],
            ),
            (
                &[
                    (9, 4, &[7], true),
                    (3, 4, &[7], true),
                    (5, 3, &[7], true),
                    (1, 0, &[6], true),
                ],
                &[
                    token(9, ALWAYS),
                    token(3, ALWAYS),
                    token(5, ALWAYS),
                    token(1, ALWAYS),
                ],
            ),
        ],
    );
}

#[test]
fn the_place_of_a_sequence_that_has_ended_is_free_in_the_next_step() {
    check(
        "no more than max_running run; a sequence that has ended leaves its place to the next one, in the step after",
        (8, 1),
        &[request(6, &[1, 2], 1), request(2, &[3], 1)],
        &[],
        &[
            (&[(6, 0, &[1, 2], true)], &[token(6, ALWAYS), end(6, Finish::Length)]),
            (&[(2, 0, &[3], true)], &[token(2, ALWAYS), end(2, Finish::Length)]),
            (&[], &[]),
        ],
    );
}

#[test]
fn several_end_in_the_same_step() {
    check(
        "each chunk finds its own sequence, also when one before it has ended in the same step; eos is not told",
        (8, 4),
        &[
            request(4, &[1], 1),
            request(3, &[2], 3),
            request(2, &[3], 3),
            request(1, &[4], 1),
        ],
        &[(2, &[EOS]), (3, &[8])],
        &[
            (
                &[
                    (4, 0, &[1], true),
                    (3, 0, &[2], true),
                    (2, 0, &[3], true),
                    (1, 0, &[4], true),
                ],
                &[
                    token(4, ALWAYS),
                    end(4, Finish::Length),
                    token(3, 8),
                    end(2, Finish::Eos),
                    token(1, ALWAYS),
                    end(1, Finish::Length),
                ],
            ),
            (&[(3, 1, &[8], true)], &[token(3, ALWAYS)]),
        ],
    );
}

#[test]
fn who_leaves_takes_part_in_no_step() {
    let requests = [
        request(1, &[1], 9),
        request(2, &[2, 3, 4, 5], 9),
        request(3, &[6], 9),
        request(4, &[8], 9),
    ];
    let limits = (3, 2);
    for (gone, who) in [
        (1, "decodes"),
        (2, "reads its prompt"),
        (3, "waits"),
        (5, "is unknown"),
    ] {
        let rule = format!("a sequence leaves that {who}: the others go on as if it had ended");
        let case = case(&rule, limits, &requests).given("leave, after step 1", gone);
        let mut model = Model::new(&[]);
        let mut batch = batch(limits, &requests);
        model.step(&case, &mut batch);
        batch.leave(gone);
        case.step(format!("step 2, after leave({gone})"));
        let before = model.passes.len();
        let expected = match gone {
            1 => chunks(&[(2, 2, &[4, 5], true), (3, 0, &[6], true)]),
            2 => chunks(&[(1, 1, &[7], true), (3, 0, &[6], true)]),
            _ => chunks(&[(1, 1, &[7], true), (2, 2, &[4, 5], true)]),
        };
        model.step(&case, &mut batch);
        case.equal(expected, model.chunks(before));
        if gone == 3 {
            batch.leave(1);
            case.step("step 3, after leave(3) and leave(1)");
            let before = model.passes.len();
            model.step(&case, &mut batch);
            case.equal(chunks(&[(2, 4, &[7], true), (4, 0, &[8], true)]), model.chunks(before));
        }
    }
}

#[test]
fn the_example_of_the_task() {
    check(
        "the example above the function, with the ids 1 and 2 for A and B",
        (4, 2),
        &[request(1, &[5, 6, 7], 2), request(2, &[8, 9], 5)],
        &[(1, &[3, 4]), (2, &[EOS])],
        &[
            (&[(1, 0, &[5, 6, 7], true), (2, 0, &[8], false)], &[token(1, 3)]),
            (
                &[(1, 3, &[3], true), (2, 1, &[9], true)],
                &[token(1, 4), end(1, Finish::Length), end(2, Finish::Eos)],
            ),
            (&[], &[]),
        ],
    );
}

#[test]
fn it_takes_the_steps_of_the_books_scheduler() {
    let mut random = Random::new(8);
    for round in 0..40 {
        let limits = (1 + random.below(9), 1 + random.below(5));
        let case = case("each step has the chunks that the book's scheduler plans", limits, &[])
            .given("requests and leaves", format!("at random, round {round}"));
        let mut books = Scheduler::new(
            EngineConfig {
                policy: Policy::ChunkedPrefill,
                max_running: limits.1,
                max_admitted: limits.1,
                token_budget: limits.0,
                prefix_cache: false,
            },
            4,
            10_000,
        );
        let mut batch = batch(limits, &[]);
        let mut model = Model::new(&[]);
        let mut present = Vec::new();
        let mut next = 1;
        for step in 1..=60 {
            if random.below(3) == 0 {
                let prompt: Vec<u32> =
                    (0..=random.below(12)).map(|_| 1 + random.below(90) as u32).collect();
                let max_tokens = 1 + random.below(6);
                // Some are ended by the model.
                let mut script: Vec<u32> =
                    (0..random.below(5)).map(|_| 1 + random.below(90) as u32).collect();
                script.insert(0, EOS);
                model.script.insert(next, script);
                let id = SequenceId(next);
                let chunk = usize::MAX;
                let prompt_logits = false;
                let arrives = Happened::Arrive {
                    id,
                    prompt: prompt.clone(),
                    max_tokens,
                    chunk,
                    prompt_logits,
                };
                books.handle(arrives).unwrap();
                batch.submit(Request { id: next, prompt, max_tokens });
                present.push(next);
                next += 1;
            }
            if random.below(10) == 0 && !present.is_empty() {
                let gone = present.swap_remove(random.below(present.len()));
                books.handle(Happened::Leave { id: SequenceId(gone) }).unwrap();
                batch.leave(gone);
            }
            case.step(format!("step {step}"));
            let plan = books.plan().chunks;
            let expected = plan.iter().map(|chunk| Chunk {
                id: chunk.id.0,
                start: chunk.positions.start,
                tokens: books.tokens_of(chunk),
                wants_logits: chunk.logits != Logits::None,
            });
            let expected = Chunks(expected.collect());
            let before = model.passes.len();
            let events = model.step(&case, &mut batch);
            case.equal(expected, model.chunks(before));
            books.complete(&plan);
            for event in events {
                let happened = match event {
                    Event::Token { id, token } => Happened::Token { id: SequenceId(id), token },
                    Event::End { id, .. } => {
                        present.retain(|&other| other != id);
                        Happened::Leave { id: SequenceId(id) }
                    }
                };
                books.handle(happened).unwrap();
            }
        }
    }
}
