//! The scheduler: its decisions, one by one, and its blocks against a naive model, on random events.

mod random;

use slowburn::engine::{Chunk, EngineConfig, Event, Policy, Scheduler, SequenceId};
use slowburn::model::Logits;

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
