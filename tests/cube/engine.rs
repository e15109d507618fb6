//! The engine: what it computes together, in chunks, after a preemption or behind a cached prefix is what
//! each sequence gets alone.

use std::collections::BTreeMap;
use std::iter::zip;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use slowburn::Result;
use slowburn::engine::{EngineConfig, Policy, SequenceId};
use slowburn::generate::{self, Batch, BeamOptions, Generation, Options};
use slowburn::model::Model;
use slowburn::sampling::SamplingParams;
use slowburn::speculation::{Draft, DraftLength, Speculator, Text};

use crate::common::texts::{Finished, step};
use crate::common::{go_on, load};
use crate::invariant;

fn options(max_tokens: usize, chunk: usize, seed: u64) -> Options {
    Options {
        max_tokens,
        chunk,
        sampling: SamplingParams { seed, ..SamplingParams::default() },
        ignore_eos: true,
        hash_logits: true,
        ..Options::default()
    }
}

/// Requests of which some share a long prefix, and some are equal.
fn requests() -> Vec<(Vec<u32>, Options)> {
    let system = |length: u32| -> Vec<u32> { (0..length).map(|i| 5 + i * 7 % 20).collect() };
    let prompts = [
        [system(70), vec![3]].concat(),
        [system(70), vec![4, 5]].concat(),
        system(64),
        system(64),
        vec![9, 8, 7],
        [system(40), vec![1]].concat(),
    ];
    let options = (0..).map(|seed| options(5 + 3 * seed as usize, 11 + seed as usize, seed));
    zip(prompts, options).collect()
}

fn alone(model: &Model, (prompt, options): &(Vec<u32>, Options)) -> Generation {
    generate::cached(model, prompt, options, &mut go_on).unwrap()
}

/// What happens before a step.
#[derive(Debug, Clone)]
enum Change {
    /// The next requests join.
    Join(usize),
    /// A reader stops or goes on.
    Pause(usize, bool),
    /// Somebody leaves.
    Leave(usize),
}

/// Runs requests in one batch with these changes before its steps, and checks after each step that the
/// memory is what the scheduler says. Returns the answers of those who did not leave.
fn together(
    model: &Model,
    config: EngineConfig,
    requests: &[(Vec<u32>, Options)],
    changes: &[Change],
) -> BTreeMap<usize, Generation> {
    let pool = model.kv_pool();
    let mut batch = Batch::with_config(model, config);
    let (mut found, mut ids) = (Finished::new(), Vec::<SequenceId>::new());
    let mut changes = changes.iter();
    while !batch.is_empty() || ids.len() < requests.len() {
        match changes.next() {
            None => {
                ids.extend(
                    requests[ids.len()..]
                        .iter()
                        .map(|(prompt, options)| batch.join(prompt, options).unwrap()),
                );
                ids.iter().for_each(|id| batch.set_paused(*id, false));
            }
            Some(Change::Join(count)) => {
                let end = (ids.len() + count).min(requests.len());
                ids.extend(
                    requests[ids.len()..end]
                        .iter()
                        .map(|(prompt, options)| batch.join(prompt, options).unwrap()),
                );
            }
            Some(Change::Pause(which, paused)) if !ids.is_empty() => {
                batch.set_paused(ids[which % ids.len()], *paused);
            }
            Some(Change::Leave(which)) if !ids.is_empty() => {
                batch.leave(ids[which % ids.len()]);
            }
            Some(_) => {}
        }
        step(&mut batch, &mut found);
        let blocks = batch.scheduler().blocks().counts();
        assert_eq!(pool.bytes(), (blocks.used + blocks.cached) * pool.block_bytes());
        assert!(pool.bytes() <= pool.budget());
    }
    drop(batch);
    assert_eq!(pool.bytes(), 0);
    let request = |id: SequenceId| ids.iter().position(|other| *other == id).unwrap();
    found.into_iter().map(|(id, generation)| (request(id), generation)).collect()
}

/// With few blocks and many, with and without shared prefixes.
#[test]
fn budgets_policies_and_sharing_change_no_bit() {
    if let Some(device) = invariant() {
        for name in ["llama-gqa", "gpt2", "mistral-window", "gemma3", "qwen3-moe"] {
            let requests = requests();
            let model = load(name, &device).model;
            let expected: Vec<_> = requests.iter().map(|request| alone(&model, request)).collect();
            let block_bytes = model.kv_pool().block_bytes();
            let has_window = model.config().window().is_some();
            drop(model);
            let (mut preemptions, mut cached) = (0, 0);
            for blocks in [3, 1000] {
                let model = load(name, &device).model.with_kv_cache_bytes(blocks * block_bytes);
                let small =
                    EngineConfig { token_budget: 20, max_running: 3, ..EngineConfig::default() };
                for config in [EngineConfig::default(), small] {
                    let found = together(&model, config, &requests, &[Change::Join(2)]);
                    for (i, expected) in expected.iter().enumerate() {
                        let what = format!("{name} on {device}, {blocks} blocks, {config:?}, {i}");
                        assert_eq!(found[&i].ids, expected.ids, "{what}");
                        assert_eq!(found[&i].logits_hash, expected.logits_hash, "{what}");
                        preemptions += found[&i].preemptions;
                        cached += found[&i].cached_tokens;
                    }
                }
            }
            // Behind a window so few blocks are kept that the smallest pool has enough.
            assert!(preemptions > 0 || has_window, "{name} on {device}");
            assert!(cached > 0, "{name} on {device}");
        }
    }
}

/// Beams fork their caches and write to their own; drafts are appended and cut off again.
#[test]
fn beams_and_drafts_change_no_token() {
    if let Some(device) = invariant() {
        let model = load("llama-gqa", &device).model;
        let prompt: Vec<u32> = (0..30).map(|i| 5 + i * 7 % 20).collect();
        let beams = BeamOptions {
            width: 4,
            max_tokens: 8,
            ignore_eos: true,
            ..BeamOptions::default()
        };
        let beams = generate::beam(&model, &prompt, &beams).unwrap();
        assert_eq!(beams.len(), 4);
        for beam in beams {
            let text = [prompt.clone(), beam.ids].concat();
            let score = generate::score(&model, &text, 0).unwrap();
            let new = score.tokens[prompt.len() - 1..].iter().map(|token| f64::from(token.logprob));
            let logprob: f64 = new.sum();
            assert!((logprob - beam.logprob).abs() < 1e-4, "{device}: {logprob}, {}", beam.logprob);
        }

        let plain = alone(&model, &(prompt.clone(), options(30, 256, 0)));
        // Right, wrong, right.
        let mut guess = plain.ids.clone();
        guess.iter_mut().skip(3).step_by(5).for_each(|id| *id = (*id + 1) % 50);
        let mut speculator =
            Speculator::new(Guess { prompt: prompt.len(), ids: guess }, DraftLength::fixed(4));
        let drafted = generate::speculated(
            &model,
            &mut speculator,
            &prompt,
            &options(30, 256, 0),
            &mut go_on,
        );
        let drafted = drafted.unwrap();
        assert_eq!(drafted.ids, plain.ids, "{device}");
        assert!(drafted.accepted > 5 && drafted.accepted < drafted.drafted, "{device}");
    }
}

/// Proposes the next tokens of a text.
struct Guess {
    prompt: usize,
    ids: Vec<u32>,
}

impl Draft for Guess {
    fn propose(&mut self, text: &Text<'_>, most: usize) -> Result<Vec<u32>> {
        let done = text.tokens.len() - self.prompt;
        Ok(self.ids.iter().skip(done).take(most).copied().collect())
    }
}

/// Whoever joins, stops for a while or leaves, in any order.
#[test]
fn random_events_change_no_bit() {
    let change = prop_oneof![
        (1..3usize).prop_map(Change::Join),
        (0..6usize, any::<bool>()).prop_map(|(which, paused)| Change::Pause(which, paused)),
        (0..6usize).prop_map(Change::Leave),
    ];
    let policy = prop::sample::select(Policy::ALL.to_vec());
    let strategy = (prop::collection::vec(change, 0..25), 3..9usize, 8..60usize, policy);
    if let Some(device) = invariant() {
        let model = load("llama-gqa", &device).model;
        let requests = requests();
        let expected: Vec<_> = requests.iter().map(|request| alone(&model, request)).collect();
        let block_bytes = model.kv_pool().block_bytes();
        let mut runner = TestRunner::new_with_rng(
            Config { cases: 12, failure_persistence: None, ..Config::default() },
            TestRng::deterministic_rng(RngAlgorithm::ChaCha),
        );
        let result = runner.run(&strategy, |(changes, blocks, token_budget, policy)| {
            let model = load("llama-gqa", &device).model.with_kv_cache_bytes(blocks * block_bytes);
            let config = EngineConfig {
                token_budget,
                max_running: 4,
                policy,
                ..EngineConfig::default()
            };
            for (i, found) in together(&model, config, &requests, &changes) {
                let expected = &expected[i];
                prop_assert_eq!(&found.ids, &expected.ids, "{}, request {}", device, i);
                prop_assert_eq!(
                    &found.logits_hash,
                    &expected.logits_hash,
                    "{}, request {}",
                    device,
                    i
                );
            }
            Ok(())
        });
        result.unwrap();
    }
}
