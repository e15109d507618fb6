//! The engine changes no bit of any answer: with any budgets, policies and chunks, blocks that are
//! shared, and sequences that are preempted, paused and resumed.

#![cfg(feature = "flex")]

#[path = "../common/mod.rs"]
mod common;
mod prompt_logprobs;
mod shared_pool;

use std::iter::zip;

use common::texts::{Finished, alone, assert_same, finish, step};
use common::{bundled, device, devices, go_on, load};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use slowburn::engine::{Engine, EngineConfig, Outcome, Policy, SequenceId};
use slowburn::error::{Error, RequestError, ServiceError};
use slowburn::generate::{self, Batch, Event, Generation, Options};
use slowburn::model::{Input, Model};
use slowburn::sampling::SamplingParams;

fn options(max_tokens: usize, seed: u64) -> Options {
    Options {
        max_tokens,
        sampling: SamplingParams { seed, ..SamplingParams::default() },
        ignore_eos: true,
        hash_logits: true,
        ..Options::default()
    }
}

/// Requests of which some share a long prefix, and some are equal.
fn requests(vocab: usize, context: usize) -> Vec<(Vec<u32>, Options)> {
    let system =
        |length: usize| -> Vec<u32> { (0..length).map(|i| (5 + i * 7 % 20) as u32).collect() };
    let prompts = [
        [system(70), vec![3]].concat(),
        [system(70), vec![4, 5]].concat(),
        system(64),
        system(64),
        vec![9, 8, 7],
        [system(40), vec![1]].concat(),
    ];
    let limit = |prompt: Vec<u32>| -> Vec<u32> {
        prompt.into_iter().take(context - 1).map(|id| id % vocab as u32).collect()
    };
    let options = |seed: u64| Options {
        chunk: 11 + seed as usize,
        ..options(5 + 8 * seed as usize, seed)
    };
    zip(prompts.map(limit), (0..).map(options)).collect()
}

/// Runs all requests in one batch, which some of them join late, and checks after each step that
/// the memory is what the scheduler says.
fn together(
    model: &Model,
    config: EngineConfig,
    requests: &[(Vec<u32>, Options)],
) -> Vec<Generation> {
    let pool = model.kv_pool();
    let mut batch = Batch::with_config(model, config);
    let mut found = Finished::new();
    let mut joining = requests.iter();
    let mut ids: Vec<SequenceId> = Vec::new();
    for number in 0.. {
        if number % 3 == 0 {
            let next = joining.by_ref().take(2);
            ids.extend(next.map(|(prompt, options)| batch.join(prompt, options).unwrap()));
        }
        // Readers that stop for a while.
        for (i, id) in ids.iter().enumerate() {
            batch.set_paused(*id, number % 7 == i && number < 40);
        }
        step(&mut batch, &mut found);
        let scheduler = batch.scheduler();
        let blocks = scheduler.blocks();
        assert_eq!(pool.bytes(), (blocks.owned() + blocks.evictable()) * pool.block_bytes());
        assert!(pool.bytes() <= pool.budget());
        if batch.is_empty() && joining.len() == 0 {
            break;
        }
    }
    drop(batch);
    assert_eq!(pool.bytes(), 0);
    ids.iter().map(|id| found.remove(id).unwrap()).collect()
}

#[test]
fn budgets_policies_and_sharing_change_no_bit() {
    for name in [
        "ember",
        "gpt2",
        "llama-gqa",
        "qwen3",
        "mistral-window",
        "gemma3",
        "qwen3-moe",
        "ministral3",
        "gpt-oss",
        "deepseek-v3",
        "lfm2",
        "lfm2-moe",
        "qwen3-next",
        "qwen35",
        "gemma4",
    ] {
        let load = || match name {
            "ember" => bundled(&device()).model,
            name => load(name, &device()).model,
        };
        let model = load();
        let config = model.config();
        let requests = requests(config.vocab_size, config.context_length);
        let expected: Vec<_> =
            requests.iter().map(|(prompt, options)| alone(&model, prompt, options)).collect();
        let longest =
            zip(&requests, &expected).map(|((prompt, _), found)| prompt.len() + found.ids.len());
        let longest = longest.max().unwrap();
        let block_bytes = model.kv_pool().block_bytes();
        let (mut preemptions, mut cached) = (0, 0);
        let states = model.kv_pool().state_blocks();
        let least = longest.div_ceil(32) + states;
        for blocks in [least, least + 2, 1000] {
            let model = load().with_kv_cache_bytes(blocks * block_bytes);
            for config in configs() {
                let found = together(&model, config, &requests);
                for (i, (found, expected)) in zip(&found, &expected).enumerate() {
                    let what = format!("{name}, {blocks} blocks, {config:?}, request {i}");
                    assert_same(found, expected, &what);
                    preemptions += found.preemptions;
                    cached += found.cached_tokens;
                }
            }
        }
        // Behind a window so few blocks are kept that the smallest pool has enough.
        assert!(preemptions > 0 || model.config().window().is_some(), "{name}");
        assert!(cached > 0, "{name}");
    }
}

fn configs() -> Vec<EngineConfig> {
    let chunked = EngineConfig { token_budget: 20, max_running: 3, ..EngineConfig::default() };
    let mut configs: Vec<_> = Policy::ALL
        .iter()
        .map(|&policy| EngineConfig { policy, ..EngineConfig::default() })
        .collect();
    configs.extend([chunked, EngineConfig { prefix_cache: false, ..chunked }]);
    configs
}

/// Whether the memory of a sequence is in blocks or contiguous.
#[test]
fn other_devices_run_the_same_sequences() {
    for device in devices() {
        let model = load("llama-gqa", &device).model;
        let config = model.config();
        let requests = requests(config.vocab_size, config.context_length);
        let mut batch = Batch::new(&model);
        for (prompt, options) in &requests {
            batch.join(prompt, options).unwrap();
        }
        println!("on {}", device.name);
        let found = finish(&mut batch);
        assert_eq!(found.len(), requests.len());
        for (found, (prompt, options)) in zip(found.values(), &requests) {
            let limit = config.context_length - prompt.len();
            assert_eq!(found.ids.len(), options.max_tokens.min(limit));
        }
    }
}

#[test]
fn what_the_budget_cannot_hold_is_refused_before_anything_is_computed() {
    let model = bundled(&device()).model;
    let block = model.kv_pool().block_bytes();
    let model = model.with_kv_cache_bytes(2 * block + 1);
    let mut batch = Batch::new(&model);
    let error = batch.join(&[5; 60], &options(5, 0)).unwrap_err();
    assert!(
        matches!(error, Error::Request(RequestError::KvPoolTooSmall { tokens: 65, capacity: 64 })),
        "{error}"
    );
    assert!(batch.is_empty());
    batch.join(&[5; 60], &options(4, 0)).unwrap();

    // Without an engine, the budget is checked before each pass.
    assert_eq!(alone(&model, &[5; 60], &options(4, 0)).ids.len(), 4);
    let error = generate::cached(&model, &[5; 60], &options(8, 0), &mut go_on).unwrap_err();
    assert!(
        matches!(error, Error::Service(ServiceError::KvPoolFull { needed, .. }) if needed == block),
        "{error}"
    );
    assert_eq!(model.kv_pool().bytes(), 0);
}

#[test]
fn memory_grows_with_what_is_written() {
    let model = bundled(&device()).model;
    let pool = model.kv_pool();
    let mut batch = Batch::new(&model);
    for seed in 0..64 {
        batch.join(&[5, 6, 7, seed as u32], &options(60, seed)).unwrap();
    }
    let mut tokens = 4 * 64;
    while !batch.is_empty() {
        let events = batch.step();
        tokens += events.iter().filter(|(_, event)| matches!(event, Event::Token(_))).count();
        // Every sequence has at most one block that is not full.
        let written = tokens * pool.block_bytes() / 32;
        assert!(pool.bytes() <= written + 64 * pool.block_bytes());
    }
    assert_eq!(tokens, 64 * 64);
    // 64 tokens, of which the last was never read, are two blocks.
    assert_eq!(pool.peak_bytes(), 2 * 64 * pool.block_bytes());
}

/// A sequence keeps the blocks of its window, however long it becomes, and answers as if it had kept
/// all of them. Where only some layers have a window, all blocks are kept.
#[test]
fn blocks_behind_the_window_are_given_back() {
    for (name, most) in [("mistral-window", 2), ("gemma3", 7), ("qwen3-moe", 7)] {
        let model = load(name, &device()).model;
        let prompt: Vec<u32> = (0..100).map(|i| (5 + i * 7) % 50).collect();
        let options = Options { chunk: 20, ..options(100, 3) };
        let config = EngineConfig { prefix_cache: false, ..EngineConfig::default() };
        let expected = alone(&model, &prompt, &options);
        let mut batch = Batch::with_config(&model, config);
        let id = batch.join(&prompt, &options).unwrap();
        let (mut peak, mut found) = (0, Finished::new());
        while !batch.is_empty() {
            step(&mut batch, &mut found);
            peak = peak.max(model.kv_pool().bytes() / model.kv_pool().block_bytes());
        }
        assert_same(&found[&id], &expected, name);
        assert_eq!(peak, most, "{name}");
    }
}

/// Where all layers have a window, a prefix is found by the blocks that its next position reads, though
/// those before them were evicted. Where some read the whole text, it is found as far as no block is
/// missing.
#[test]
fn a_prefix_is_found_without_the_blocks_behind_the_window() {
    for (name, cached) in [("mistral-window", 128), ("mixtral", 128), ("gemma3", 64)] {
        let model = load(name, &device()).model;
        let block_bytes = model.kv_pool().block_bytes();
        let model = model.with_kv_cache_bytes(6 * block_bytes);
        let prompt: Vec<u32> = (0..130).map(|i| (5 + i * 7) % 50).collect();
        let other: Vec<u32> = (0..100).map(|i| (3 + i * 11) % 50).collect();
        let expected = alone(&model, &prompt, &options(4, 3));
        let mut batch = Batch::new(&model);
        let mut run = |prompt: &[u32]| {
            let id = batch.join(prompt, &options(4, 3)).unwrap();
            let found = finish(&mut batch).remove(&id).unwrap();
            (found, batch.scheduler().blocks().prefix_stats().evictions)
        };
        assert_eq!(run(&prompt).1, 0, "{name}");
        // Takes two blocks that are free, and those that were given back first of four.
        assert_eq!(run(&other).1, 2, "{name}");
        let (found, _) = run(&prompt);
        assert_eq!(found.cached_tokens, cached, "{name}");
        assert_same(&found, &expected, name);
    }
}

/// Where layers have states, a prefix is found as far as these are known: at the end of a chunk, and at the last block
/// of a prompt and of what was generated.
#[test]
fn a_prefix_is_found_with_the_states_after_it() {
    for name in ["lfm2", "qwen35"] {
        let model = load(name, &device()).model;
        let prompt: Vec<u32> = (0..130).map(|i| (5 + i * 7) % 50).collect();
        let other: Vec<u32> = prompt[..70].iter().chain(&[3; 30]).copied().collect();
        let first = alone(&model, &prompt, &options(40, 3));
        let longer = [&prompt[..], &first.ids, &[7]].concat();
        let mut batch = Batch::new(&model);
        // All of it but for its last block, and what a longer text shares.
        for (prompt, tokens, cached) in [
            (&prompt, 40, 0),
            (&prompt, 4, 128),
            (&other, 4, 0),
            (&longer, 4, 160),
            (&other, 4, 96),
        ] {
            let options = options(tokens, 3);
            let expected = alone(&model, prompt, &options);
            let id = batch.join(prompt, &options).unwrap();
            let found = finish(&mut batch).remove(&id).unwrap();
            assert_eq!(found.cached_tokens, cached, "{name}");
            assert_same(&found, &expected, name);
        }
    }
}

/// A cache that is cut back and a fork go on as if nothing else had been read.
#[test]
fn forks_and_truncated_caches_have_the_same_bits() {
    for name in ["llama-gqa", "lfm2", "qwen35", "gemma4"] {
        check_forks(&load(name, &device()).model);
    }
}

fn check_forks(model: &Model) {
    let ids =
        |seed: u32, length: u32| -> Vec<u32> { (0..length).map(|i| (seed + 3 * i) % 50).collect() };
    let strategy = (1..60u32, 0..40u32, 1..40u32, 1..40u32);
    let mut runner = TestRunner::new_with_rng(
        Config { cases: 60, ..Config::default() },
        prop::test_runner::TestRng::deterministic_rng(prop::test_runner::RngAlgorithm::ChaCha),
    );
    let result = runner.run(&strategy, |(kept, dropped, one, other)| {
        let (kept, dropped) = (ids(0, kept), ids(1, dropped));
        let mut cache = model.new_cache(200).unwrap();
        model.forward(&mut [Input::after(&mut cache, &kept)]).unwrap();
        if !dropped.is_empty() {
            model.forward(&mut [Input::after(&mut cache, &dropped)]).unwrap();
        }
        cache.truncate(kept.len());
        let mut fork = cache.fork().unwrap();
        prop_assert_eq!((cache.length(), fork.length()), (kept.len(), kept.len()));
        for (cache, rest) in [(&mut cache, ids(2, one)), (&mut fork, ids(3, other))] {
            let rows = model.forward(&mut [Input::after(cache, &rest)]).unwrap();
            let whole = [kept.clone(), rest].concat();
            let alone = model.forward(&mut [Input::whole(&whole)]).unwrap();
            let bits = |rows: &[Vec<f32>]| rows[0].iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&rows), bits(&alone));
        }
        Ok(())
    });
    result.unwrap();
}

#[test]
fn an_engine_can_be_driven_without_sampling() {
    let model = bundled(&device()).model;
    let mut engine = Engine::new(&model, EngineConfig::default());
    let id = engine.arrive(&[0, 5], 3, 1, false).unwrap();
    let (plan, outcomes) = engine.step();
    assert_eq!((plan.tokens(), outcomes.len()), (1, 0), "half of the prompt");
    let (_, outcomes) = engine.step();
    let (whose, Outcome::Logits(logits)) = &outcomes[0] else {
        panic!("{outcomes:?}");
    };
    assert_eq!((*whose, logits.len()), (id, model.config().vocab_size));
    let (plan, outcomes) = engine.step();
    assert_eq!((plan.tokens(), outcomes.len()), (0, 0), "nothing was sampled");
    engine.leave(id);
    assert!(engine.scheduler().is_empty());
}
