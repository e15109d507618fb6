//! Draft tokens change no bit of any answer: whatever the draft, the sampling, the budgets and the
//! other sequences.

#![cfg(feature = "flex")]

#[path = "../common/mod.rs"]
mod common;
mod ends;
mod turns;

use std::iter::zip;
use std::ops::ControlFlow;
use std::slice::from_ref;
use std::sync::Arc;

use common::texts::{Finished, alone, finish, step};
use common::{bundled, device, devices, go_on, load};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use slowburn::engine::{EngineConfig, Policy, SequenceId};
use slowburn::error::{Error, RequestError, Result, ServiceError};
use slowburn::generate::{self, Batch, Event, FinishReason, Generation, Options};
use slowburn::inference::{GenerateRequest, InferenceBuilder, streaming_handler};
use slowburn::kernels::Quantized;
use slowburn::model::Model;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::{Rules, Sampler, SamplingParams};
use slowburn::speculation::{
    Draft, DraftLength, DraftModel, DraftSource, Draws, PassCosts, PromptLookup, Speculation,
    Speculator, Text,
};
use slowburn::storage::Storage;

fn options(max_tokens: usize, temperature: f32, seed: u64) -> Options {
    Options {
        max_tokens,
        sampling: SamplingParams { temperature, seed, ..SamplingParams::default() },
        ignore_eos: true,
        logprobs: Some(2),
        hash_logits: true,
        ..Options::default()
    }
}

fn assert_same(found: &Generation, expected: &Generation, what: &str) {
    common::texts::assert_same(found, expected, what);
    assert!(found.accepted <= found.drafted.min(found.ids.len()), "{what}");
}

/// Knows the text, and how many tokens of it are wrong.
#[derive(Clone)]
struct Oracle {
    ids: Vec<u32>,
    /// Every so many tokens one is wrong: 1 is always, 0 never.
    wrong: usize,
    vocab: u32,
}

impl Draft for Oracle {
    fn propose(&mut self, text: &Text<'_>, _: usize) -> Result<Vec<u32>> {
        let done = text.tokens.len() - text.prompt;
        // Also beyond the end, and more than was asked for.
        let guess = |index: usize| match self.ids.get(index) {
            Some(&id) if self.wrong == 0 || !(index + 1).is_multiple_of(self.wrong) => id,
            Some(&id) => (id + 1) % self.vocab,
            None => 0,
        };
        Ok((done..done + 50).map(guess).collect())
    }
}

/// Proposes the same tokens at every step.
struct Always(Vec<u32>);

impl Draft for Always {
    fn propose(&mut self, _: &Text<'_>, _: usize) -> Result<Vec<u32>> {
        Ok(self.0.clone())
    }
}

/// Fails in one way or another.
struct Broken(usize);

impl Draft for Broken {
    fn propose(&mut self, text: &Text<'_>, _: usize) -> Result<Vec<u32>> {
        match (self.0 + text.tokens.len()) % 3 {
            0 => Err(RequestError::EmptyPrompt.into()),
            1 => Ok(vec![u32::MAX]),
            _ => panic!("a draft of the test's own"),
        }
    }
}

fn speculator(draft: impl Draft + 'static) -> Speculator {
    Speculator::new(draft, DraftLength::fixed(5))
}

/// One of several drafts for a text that is known.
fn draft(kind: usize, expected: &Generation, model: &Model, small: &Arc<Model>) -> Speculator {
    let vocab = model.config().vocab_size as u32;
    let oracle = |wrong| Oracle { ids: expected.ids.clone(), wrong, vocab };
    match kind % 9 {
        0 => speculator(oracle(0)),
        1 => speculator(oracle(1)),
        2 => Speculator::new(oracle(3), DraftLength::adaptive(9)),
        3 => Speculator::new(oracle(0), DraftLength::fixed(40)),
        4 => speculator(PromptLookup::default()),
        5 => {
            speculator(Always(vec![model.config().eos_token_ids.first().copied().unwrap_or(0); 3]))
        }
        6 => speculator(DraftModel::new(small.clone(), model, Draws::Coupled).unwrap()),
        7 => speculator(DraftModel::new(small.clone(), model, Draws::Greedy).unwrap()),
        _ => speculator(Broken(kind)),
    }
}

/// The bundled model with fewer bits: much like it, and not the same.
fn small() -> Arc<Model> {
    let storage = Storage {
        layers: Some(Quantized::Int4),
        ..slowburn::device::Precision::F32.into()
    };
    Arc::new(Pretrained::bundled(&device(), storage).unwrap().model)
}

fn speculated(model: &Model, mut by: Speculator, prompt: &[u32], options: &Options) -> Generation {
    generate::speculated(model, &mut by, prompt, options, &mut go_on).unwrap()
}

#[test]
fn the_loop_has_the_bits_of_the_cached_one_with_every_draft_at_every_temperature() {
    let (model, small) = (bundled(&device()).model, small());
    let prompt: Vec<u32> = (0..20).map(|i| 5 + i % 7).collect();
    for temperature in [0.0, 0.8, 1.5] {
        let options = Options { chunk: 7, ..options(70, temperature, 3) };
        let expected = alone(&model, &prompt, &options);
        for kind in 0..8 {
            let by = draft(kind, &expected, &model, &small);
            let found = speculated(&model, by, &prompt, &options);
            assert_same(&found, &expected, &format!("draft {kind} at {temperature}"));
            match kind {
                // The first token comes from the prompt, the last from the row before it.
                0 => assert_eq!((found.drafted, found.accepted), (57, 57)),
                1 => assert_eq!(found.accepted, 0),
                6 if temperature == 0.0 => assert!(found.accepted > found.drafted / 2),
                _ => assert!(found.drafted > 0 || kind == 4, "{kind}"),
            }
        }
    }
}

#[test]
fn other_devices_have_the_tokens_of_the_cached_loop() {
    for device in devices() {
        let model = load("llama-gqa", &device).model;
        let options = options(30, 0.0, 0);
        let expected = alone(&model, &[1, 2, 3], &options);
        let oracle = Oracle { ids: expected.ids.clone(), wrong: 4, vocab: 50 };
        let found = speculated(&model, speculator(oracle), &[1, 2, 3], &options);
        assert_eq!(found.ids, expected.ids, "{}", device.name);
        assert!(found.accepted > 10, "{}", device.name);
    }
}

/// Runs all requests in one batch, which some of them join late, each with its draft or without.
fn together(
    model: &Model,
    config: EngineConfig,
    requests: &[(Vec<u32>, Options)],
    mut draft: impl FnMut(usize) -> Option<Speculator>,
) -> Vec<Generation> {
    let pool = model.kv_pool();
    let mut batch = Batch::with_config(model, config);
    let mut found = Finished::new();
    let mut joining = requests.iter().enumerate();
    let mut ids: Vec<SequenceId> = Vec::new();
    for number in 0.. {
        if number % 3 == 0 {
            for (index, (prompt, options)) in joining.by_ref().take(2) {
                let id = batch.join(prompt, options).unwrap();
                if let Some(speculator) = draft(index) {
                    batch.speculate(id, speculator);
                }
                ids.push(id);
            }
        }
        for (i, id) in ids.iter().enumerate() {
            batch.set_paused(*id, number % 7 == i && number < 40);
        }
        step(&mut batch, &mut found);
        let decodes = batch.plan().chunks.len();
        assert!(
            batch.plan().tokens() <= config.token_budget.max(decodes + 1)
                || config.policy != Policy::ChunkedPrefill
        );
        let scheduler = batch.scheduler();
        let blocks = scheduler.blocks();
        assert_eq!(pool.bytes(), (blocks.owned() + blocks.evictable()) * pool.block_bytes());
        if batch.is_empty() && joining.len() == 0 {
            break;
        }
    }
    drop(batch);
    assert_eq!(pool.bytes(), 0);
    ids.iter().map(|id| found.remove(id).unwrap()).collect()
}

/// Of random requests, drafts, budgets and policies.
#[test]
fn in_a_batch_each_sequence_has_the_bits_that_it_has_alone() {
    let (load, small) = (|| bundled(&device()).model, small());
    let model = load();
    let block_bytes = model.kv_pool().block_bytes();
    let request = (1..70usize, 1..60usize, 0..3usize, 0..10usize, 0..5u32, 0..2u64);
    let strategy = (
        prop::collection::vec(request, 1..6),
        0..3usize,
        1..40usize,
        1..4usize,
        any::<bool>(),
        0..4usize,
    );
    let mut runner = TestRunner::new_with_rng(
        Config { cases: 48, ..Config::default() },
        TestRng::deterministic_rng(RngAlgorithm::ChaCha),
    );
    let totals = std::cell::Cell::new((0, 0, 0, 0));
    let run =
        |(requests, spare, budget, running, prefix_cache, policy): (Vec<_>, _, _, _, _, _)| {
            let mut longest: usize = 0;
            let mut kinds = Vec::new();
            let requests: Vec<(Vec<u32>, Options)> = requests
                .into_iter()
                .map(|(length, tokens, temperature, kind, first, seed)| {
                    longest = longest.max(length + tokens);
                    kinds.push(kind);
                    let prompt =
                        (0..length as u32).map(|i| if i < 40 { i % 9 } else { first + i % 5 });
                    let temperature = [0.0, 0.7, 1.2][temperature];
                    let options =
                        Options { chunk: 1 + length / 2, ..options(tokens, temperature, seed) };
                    let sampling = SamplingParams {
                        repetition_penalty: 1.0 + 0.1 * seed as f32,
                        frequency_penalty: 0.2 * seed as f32,
                        ..options.sampling
                    };
                    (prompt.collect(), Options { sampling, ..options })
                })
                .collect();
            let expected: Vec<_> =
                requests.iter().map(|(prompt, options)| alone(&model, prompt, options)).collect();
            let tight = load().with_kv_cache_bytes((longest.div_ceil(32) + spare) * block_bytes);
            let config = EngineConfig {
                policy: Policy::ALL[policy],
                max_running: running,
                token_budget: budget,
                prefix_cache,
                ..EngineConfig::default()
            };
            let found = together(&tight, config, &requests, |index| {
                (kinds[index] < 9).then(|| draft(kinds[index], &expected[index], &model, &small))
            });
            for (index, (found, expected)) in zip(&found, &expected).enumerate() {
                assert_same(found, expected, &format!("request {index}, draft {}", kinds[index]));
                let (drafted, accepted, preempted, cached) = totals.get();
                totals.set((
                    drafted + found.drafted,
                    accepted + found.accepted,
                    preempted + found.preemptions,
                    cached + found.cached_tokens,
                ));
            }
            Ok(())
        };
    runner.run(&strategy, run).unwrap();
    let (drafted, accepted, preempted, cached) = totals.get();
    assert!(accepted > 500 && drafted > 2 * accepted / 3, "{drafted}, {accepted}");
    assert!(preempted > 5 && cached > 100, "{preempted}, {cached}");
}

/// A state cannot be cut back: what was rejected leaves it all the same.
#[test]
fn states_forget_what_was_rejected() {
    for name in ["lfm2", "qwen35"] {
        let model = load(name, &device()).model;
        let request = |seed: u64| -> (Vec<u32>, Options) {
            let prompt = (0..10 + 20 * seed as u32).map(|i| 5 + i % 30).collect();
            (prompt, Options { chunk: 7 + seed as usize, ..options(50, 0.8, seed) })
        };
        let requests: Vec<_> = (0..4).map(request).collect();
        let expected: Vec<_> =
            requests.iter().map(|(prompt, options)| alone(&model, prompt, options)).collect();
        for wrong in 2..5 {
            let oracle = |index: usize| {
                let ids = expected[index].ids.clone();
                speculator(Oracle { ids, wrong, vocab: 50 })
            };
            let what = format!("{name}, one of {wrong} is wrong");
            let config = EngineConfig::default();
            let found = together(&model, config, &requests, |index| Some(oracle(index)));
            for (index, (found, expected)) in zip(&found, &expected).enumerate() {
                assert_same(found, expected, &what);
                assert!(0 < found.accepted && found.accepted < found.drafted, "{what}");
                let (prompt, options) = &requests[index];
                assert_same(&speculated(&model, oracle(index), prompt, options), expected, &what);
            }
        }
    }
}

/// What follows from text that was rejected is found by nobody.
#[test]
fn the_prefix_cache_has_accepted_tokens_only() {
    let model = bundled(&device()).model;
    let prompt: Vec<u32> = vec![3; 30];
    let options = options(70, 1.0, 5);
    let expected = alone(&model, &prompt, &options);
    let mut batch = Batch::new(&model);
    for wrong in [1, 3, 5] {
        let id = batch.join(&prompt, &options).unwrap();
        let oracle = Oracle { ids: expected.ids.clone(), wrong, vocab: 1024 };
        batch.speculate(id, Speculator::new(oracle.clone(), DraftLength::fixed(50)));
        while !batch.is_empty() {
            batch.step();
        }
        // The tokens that were proposed, as a prompt.
        let text = |tokens: &[u32]| [&prompt[..], tokens].concat();
        let sampler = Sampler::new(&options.sampling).unwrap();
        let guessed = oracle
            .clone()
            .propose(&Text { tokens: &prompt, prompt: prompt.len(), sampler: &sampler }, 50);
        for tokens in [&guessed.unwrap()[..50], &expected.ids[..50]] {
            let (prompt, options) = (text(tokens), self::options(5, 1.0, 9));
            let found = batch
                .run(from_ref(&prompt), from_ref(&options), &mut |_, _| ControlFlow::Continue(()));
            assert_same(&found.unwrap()[0], &alone(&model, &prompt, &options), "a shared prefix");
        }
    }
}

#[test]
fn a_draft_model_needs_the_vocabulary() {
    let model = bundled(&device()).model;
    let other = Arc::new(load("llama-gqa", &device()).model);
    let error = DraftModel::new(other.clone(), &model, Draws::Coupled).unwrap_err();
    assert!(matches!(error, Error::Request(RequestError::DraftVocabulary { .. })), "{error}");
    let mut batch = Batch::new(&model);
    batch.set_speculation(Some(Speculation::new(DraftSource::Model(other), 4)));
    assert!(batch.join(&[5], &options(5, 1.0, 0)).is_err());
    assert!(batch.is_empty());
}

#[test]
fn auto_measures_and_changes_no_text() {
    let model = bundled(&device()).model;
    let speculation = Speculation::auto(DraftSource::Lookup, 8, &model).unwrap();
    let costs = PassCosts::measure(&model).unwrap().relative();
    assert_eq!((costs.len(), costs[0]), (12, 1.0));
    assert!(costs.iter().all(|cost| cost.is_finite() && *cost > 0.0));
    let options = options(60, 0.0, 0);
    let expected = alone(&model, &[4; 30], &options);
    let by = speculation.start(&model).unwrap();
    assert_same(&speculated(&model, by, &[4; 30], &options), &expected, "auto");
}
