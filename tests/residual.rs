//! Residual sampling keeps the distribution of every text, whatever the draft proposes.

#![cfg(feature = "flex")]

mod common;

use std::collections::BTreeMap;
use std::iter::zip;
use std::sync::Arc;

use common::texts::finish;
use common::{device, go_on, load};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use slowburn::error::Result;
use slowburn::generate::{self, Batch, Options};
use slowburn::model::Model;
use slowburn::sampling::{Sampler, SamplingParams};
use slowburn::speculation::{
    Acceptance, Draft, DraftLength, DraftModel, Draws, ForcedTokens, Speculator, Text, residual,
};

/// Distributions over a few tokens, some of which have no probability.
fn distribution(vocab: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0..6u32, vocab).prop_filter_map("no token", |weights| {
        let sum: u32 = weights.iter().sum();
        (sum > 0)
            .then(|| weights.iter().map(|&weight| f64::from(weight) / f64::from(sum)).collect())
    })
}

/// The lengths of the intervals that the cumulative probabilities end, each with a number inside.
fn intervals(probabilities: &[f64]) -> Vec<(f64, f64)> {
    let mut start = 0.0;
    let interval = |p: &f64| {
        start += p;
        (*p, start - p / 2.0)
    };
    probabilities.iter().map(interval).filter(|(length, _)| *length > 1e-9).collect()
}

/// The distribution of what [`residual::check`] returns: the sum over all draft tokens, and over all
/// intervals of the two numbers in which it returns one token.
fn checked(target: &[f64], draft: &[f64]) -> Vec<f64> {
    let mut output = vec![0.0; target.len()];
    for (token, &q) in draft.iter().enumerate().filter(|(_, q)| **q > 0.0) {
        let accepted = residual::acceptance(target, draft, token);
        let rest = residual::residual(target, draft).unwrap_or_else(|| vec![1.0]);
        for (first, u) in intervals(&[accepted, 1.0 - accepted]) {
            for (second, v) in intervals(&rest) {
                output[residual::check(target, draft, token, [u, v])] += q * first * second;
            }
        }
    }
    output
}

#[test]
fn every_draft_gives_the_distribution_of_the_target() {
    let strategy = (1..7usize).prop_flat_map(|vocab| (distribution(vocab), distribution(vocab)));
    let mut runner = TestRunner::new_with_rng(
        Config { cases: 2000, ..Config::default() },
        TestRng::deterministic_rng(RngAlgorithm::ChaCha),
    );
    let result = runner.run(&strategy, |(target, draft)| {
        // One that is drawn, and each that is certain.
        let certain = (0..target.len()).map(|token| residual::certain(token, target.len()));
        for draft in certain.chain([draft]) {
            let output = checked(&target, &draft);
            for (found, expected) in zip(&output, &target) {
                prop_assert!((found - expected).abs() < 1e-9, "{output:?} {target:?} {draft:?}");
            }
        }
        Ok(())
    });
    result.unwrap();
}

/// Draws all tokens from one distribution.
struct Drawn {
    sampler: Sampler,
    distribution: Vec<f32>,
    drawn: Vec<Vec<f32>>,
}

impl Draft for Drawn {
    fn propose(&mut self, _: &Text<'_>, most: usize) -> Result<Vec<u32>> {
        self.drawn = vec![self.distribution.clone(); most];
        Ok((0..most).map(|_| self.sampler.draw(&self.distribution)).collect())
    }

    fn distributions(&self) -> &[Vec<f32>] {
        &self.drawn
    }
}

/// Proposes the same tokens at every step.
struct Always(Vec<u32>);

impl Draft for Always {
    fn propose(&mut self, _: &Text<'_>, _: usize) -> Result<Vec<u32>> {
        Ok(self.0.clone())
    }
}

const TOKENS: usize = 4;

fn options(seed: u64) -> Options {
    Options {
        max_tokens: TOKENS,
        sampling: SamplingParams {
            temperature: 1.3,
            top_k: Some(3),
            seed,
            ..SamplingParams::default()
        },
        ignore_eos: true,
        ..Options::default()
    }
}

/// The probability of every text.
fn texts(model: &Model, prompt: &[u32]) -> BTreeMap<Vec<u32>, f64> {
    let sampler = Sampler::new(&options(0).sampling).unwrap();
    let mut texts = BTreeMap::from([(Vec::new(), 1.0)]);
    for _ in 0..TOKENS {
        let longer = texts.iter().flat_map(|(text, p)| {
            let tokens = [prompt, text].concat();
            let mut cache = model.new_cache(tokens.len()).unwrap();
            let input = slowburn::model::Input::after(&mut cache, &tokens);
            let logits = model.forward(&mut [input]).unwrap().concat();
            let next = sampler.distribution(&logits, prompt, text).unwrap();
            let next = next.into_iter().enumerate().filter(|(_, q)| *q > 0.0);
            next.map(|(token, q)| ([&text[..], &[token as u32]].concat(), p * f64::from(q)))
                .collect::<Vec<_>>()
        });
        texts = longer.collect();
    }
    texts
}

#[test]
fn texts_are_as_frequent_as_without_draft_tokens() {
    const TEXTS: u32 = 4000;
    let model = Arc::new(load("llama-gqa", &device()).model);
    let prompt = [1, 2, 3];
    let expected = texts(&model, &prompt);
    let vocab = model.config().vocab_size;
    // The tokens that begin the texts are likely, and all others are possible.
    let mut weights = vec![1.0; vocab];
    expected.keys().flatten().for_each(|&token| weights[token as usize] += 2.0);
    let sum: f32 = weights.iter().sum();
    let distribution: Vec<f32> = weights.iter().map(|weight| weight / sum).collect();
    type Of<'a> = Box<dyn Fn(u64) -> Speculator + 'a>;
    let drafts: [(&str, Of<'_>); 4] = [
        (
            "certain",
            Box::new(|_| {
                let likely = expected.iter().max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0;
                speculator(Always(likely[1..].to_vec()))
            }),
        ),
        (
            "drawn",
            Box::new(|seed| {
                let params = SamplingParams { seed: seed + 1_000_000, ..SamplingParams::default() };
                let sampler = Sampler::new(&params).unwrap();
                speculator(Drawn {
                    sampler,
                    distribution: distribution.clone(),
                    drawn: Vec::new(),
                })
            }),
        ),
        ("independent", Box::new(|_| of_model(&model, Draws::Independent))),
        ("coupled", Box::new(|_| of_model(&model, Draws::Coupled))),
    ];
    for (name, draft) in drafts {
        let (mut counts, mut accepted) = (BTreeMap::<Vec<u32>, f64>::new(), 0);
        for seed in 0..u64::from(TEXTS) {
            let by = &mut draft(seed);
            let text = generate::speculated(&model, by, &prompt, &options(seed), &mut go_on);
            let text = text.unwrap();
            accepted += text.accepted;
            *counts.entry(text.ids).or_default() += 1.0;
        }
        assert!(counts.keys().all(|text| expected.contains_key(text)), "{name}");
        assert!(accepted > TEXTS as usize / 50, "{name}: {accepted}");
        for (text, p) in &expected {
            let count = counts.get(text).copied().unwrap_or(0.0);
            let mean = f64::from(TEXTS) * p;
            let deviations = (count - mean).abs() / (mean * (1.0 - p)).sqrt().max(1.0);
            assert!(deviations < 5.0, "{name}, {text:?}: {count} of {mean}");
        }
    }
}

fn speculator(draft: impl Draft + 'static) -> Speculator {
    Speculator::new(draft, DraftLength::fixed(3)).with_acceptance(Acceptance::Residual)
}

fn of_model(model: &Arc<Model>, draws: Draws) -> Speculator {
    speculator(DraftModel::new(model.clone(), model, draws).unwrap())
}

#[test]
fn a_model_that_drafts_for_itself_has_all_of_its_own_draws_accepted() {
    let model = Arc::new(load("llama-gqa", &device()).model);
    let options = Options { max_tokens: 40, ..options(5) };
    // Without a constraint nothing is forced, and the draft model is asked for each token.
    let draft = DraftModel::new(model.clone(), &model, Draws::Independent).unwrap();
    for by in [
        of_model(&model, Draws::Independent),
        speculator(ForcedTokens::or(draft)),
    ] {
        let mut batch = Batch::new(&model);
        let id = batch.join(&[1, 2, 3], &options).unwrap();
        batch.speculate(id, by);
        let found = finish(&mut batch).remove(&id).unwrap();
        assert!(found.drafted > 25 && found.accepted == found.drafted, "{found:?}");
        assert_eq!(found.ids.len(), 40);
    }
}
