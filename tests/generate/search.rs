//! Beam search against a search of everything, and the scoring of texts.

use burn::tensor::Device;
use proptest::prelude::*;
use slowburn::checkpoint::Weights;
use slowburn::generate::{self, BeamOptions, FinishReason, Options, Score};
use slowburn::model::activation::Activation;
use slowburn::model::config::Family;
use slowburn::model::{Input, Model, ModelConfig};
use slowburn::sampling::{SamplingParams, softmax};
use slowburn::{Error, RequestError};

use crate::common::texts::alone;
use crate::common::{assert_close, bundled, device, load};

/// A model over five tokens, of which the last ends a text. Its weights are random, so what it
/// finds likely has no pattern that a search could be lucky with.
fn tiny(seed: u64) -> Model {
    let config = ModelConfig {
        family: Family::Gpt2,
        vocab_size: 5,
        d_model: 8,
        n_layers: 2,
        n_heads: 2,
        n_kv_heads: 2,
        head_dim: 4,
        d_ff: 16,
        context_length: 8,
        norm_eps: 1e-5,
        activation: Activation::Gelu,
        tied_head: false,
        bos_token_id: Some(0),
        eos_token_ids: vec![END],
    };
    let device = Device::default();
    device.seed(seed);
    Model::load(config, &Weights::random(&device)).unwrap()
}

const END: u32 = 4;
const PROMPT: [u32; 2] = [0, 1];

/// Every text of up to `max_tokens` tokens with its log-probability: those that end, with the
/// end token, and those that are cut off.
fn all_texts(model: &Model, max_tokens: usize) -> Vec<(Vec<u32>, f64)> {
    let mut texts = Vec::new();
    let mut open = vec![(Vec::new(), 0.0)];
    for length in 1..=max_tokens {
        let mut next = Vec::new();
        for (ids, logprob) in open {
            let logits = model
                .forward(&mut [Input::whole(&[&PROMPT[..], &ids].concat())])
                .unwrap()
                .remove(0);
            for (id, p) in (0u32..).zip(softmax(&logits)) {
                let mut ids: Vec<u32> = ids.clone();
                ids.push(id);
                let text = (ids, logprob + f64::from(p).ln());
                if id == END || length == max_tokens {
                    texts.push(text)
                } else {
                    next.push(text)
                }
            }
        }
        open = next;
    }
    texts
}

/// The best text by `logprob / length^penalty`, and its score.
fn best_of(texts: &[(Vec<u32>, f64)], penalty: f32) -> (Vec<u32>, f64) {
    let score =
        |(ids, logprob): &(Vec<u32>, f64)| logprob / (ids.len() as f64).powf(f64::from(penalty));
    let best = texts.iter().max_by(|a, b| score(a).total_cmp(&score(b))).unwrap();
    let ids = best.0.iter().copied().filter(|&id| id != END).collect();
    (ids, score(best))
}

#[test]
fn a_beam_as_wide_as_all_texts_finds_the_best_of_them() {
    for seed in 1..=5 {
        let model = tiny(seed);
        let texts = all_texts(&model, 4);
        for length_penalty in [0.0, 0.6, 1.0, 2.0] {
            let options = BeamOptions {
                width: 5usize.pow(4),
                max_tokens: 4,
                length_penalty,
                ignore_eos: false,
            };
            let found = &generate::beam(&model, &PROMPT, &options).unwrap()[0];
            let (ids, score) = best_of(&texts, length_penalty);
            assert_eq!(found.ids, ids, "seed {seed}, penalty {length_penalty}");
            assert!((found.score - score).abs() < 1e-4, "{} {score}", found.score);
        }
    }
}

#[test]
fn a_narrow_beam_never_finds_a_better_text_than_there_is_and_may_miss_the_best() {
    let mut missed = 0;
    for seed in 1..=20 {
        let model = tiny(seed);
        let texts = all_texts(&model, 4);
        for width in [1, 2, 3] {
            let options = BeamOptions { width, max_tokens: 4, ..BeamOptions::default() };
            let found = generate::beam(&model, &PROMPT, &options).unwrap();
            assert!(found.len() <= width);
            assert!(found.is_sorted_by(|a, b| a.score >= b.score));
            let (ids, score) = best_of(&texts, 1.0);
            assert!(found[0].score <= score + 1e-4, "seed {seed}, width {width}");
            missed += usize::from(found[0].ids != ids);
        }
    }
    assert!(missed > 0, "a beam of 3 finds everything here: this test shows nothing");
}

#[test]
fn the_log_probability_of_a_hypothesis_is_what_scoring_it_says() {
    let model = tiny(3);
    let options = BeamOptions { width: 6, max_tokens: 4, ..BeamOptions::default() };
    for found in generate::beam(&model, &PROMPT, &options).unwrap() {
        let mut ids = [&PROMPT[..], &found.ids].concat();
        if found.finish_reason == FinishReason::Eos {
            ids.push(END);
        }
        let score = generate::score(&model, &ids, 0).unwrap();
        let new = Score { tokens: score.tokens[PROMPT.len() - 1..].to_vec() };
        assert!((new.logprob() - found.logprob).abs() < 1e-4, "{found:?}");
    }
}

#[test]
fn one_beam_is_greedy() {
    let model = bundled(&device()).model;
    let prompt = [0, 5, 6, 7];
    let sampling = SamplingParams { temperature: 0.0, ..SamplingParams::default() };
    for ignore_eos in [false, true] {
        let options = Options {
            max_tokens: 40,
            sampling: sampling.clone(),
            ignore_eos,
            ..Options::default()
        };
        let greedy = alone(&model, &prompt, &options);
        let options = BeamOptions {
            width: 1,
            max_tokens: 40,
            ignore_eos,
            ..BeamOptions::default()
        };
        let found = generate::beam(&model, &prompt, &options).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].ids, greedy.ids);
        assert_eq!(found[0].finish_reason, greedy.finish_reason);
    }
}

#[test]
fn a_search_ends_where_it_must() {
    let model = tiny(1);
    let beam = |prompt: &[u32], options: &BeamOptions| generate::beam(&model, prompt, options);
    let none = BeamOptions { max_tokens: 0, ..BeamOptions::default() };
    assert!(beam(&PROMPT, &none).unwrap().is_empty());
    // The context holds 8 tokens.
    let long = BeamOptions { max_tokens: 100, ignore_eos: true, ..BeamOptions::default() };
    for found in beam(&PROMPT, &long).unwrap() {
        assert_eq!(found.ids.len(), 6);
        assert_eq!(found.finish_reason, FinishReason::Context);
    }
    let wide = BeamOptions { width: 0, ..BeamOptions::default() };
    let error = beam(&PROMPT, &wide).unwrap_err();
    assert!(error.to_string().contains("beam width is 0"), "{error}");
    // With 2^63 the search would hold every text that there could be.
    for width in [BeamOptions::MAX_WIDTH + 1, 1 << 63, usize::MAX] {
        let wide = BeamOptions { width, ..BeamOptions::default() };
        let error = beam(&PROMPT, &wide).unwrap_err();
        let message = format!("beam width is {width}, but must be 1 to {}", BeamOptions::MAX_WIDTH);
        assert!(error.to_string().contains(&message), "{error}");
    }
    // More beams than there are texts cost no more than all texts do.
    let widest = BeamOptions {
        width: BeamOptions::MAX_WIDTH,
        max_tokens: 2,
        ..BeamOptions::default()
    };
    assert_eq!(beam(&PROMPT, &widest).unwrap().len(), 1 + 4 * 5);
    let nan = BeamOptions { length_penalty: f32::NAN, ..BeamOptions::default() };
    assert!(matches!(
        beam(&PROMPT, &nan),
        Err(Error::Request(RequestError::Parameter { name: "length_penalty", .. }))
    ));
    assert!(matches!(
        beam(&[], &BeamOptions::default()),
        Err(Error::Request(RequestError::EmptyPrompt))
    ));
    assert!(matches!(
        beam(&[9], &BeamOptions::default()),
        Err(Error::Request(RequestError::TokenOutOfRange { .. }))
    ));
}

/// The rows of a text are those of its prefixes, so scoring in chunks is scoring at once.
#[test]
fn a_score_is_what_the_logits_of_each_prefix_say() {
    let model = bundled(&device()).model;
    let ids: Vec<u32> = (0..150).map(|i| 2 + i * 31 % 1000).collect();
    let score = generate::score(&model, &ids, 2).unwrap();
    assert_eq!(score.tokens.len(), ids.len() - 1);
    for at in [1, 2, 63, 64, 65, 128, 149] {
        let logits = model.forward(&mut [Input::whole(&ids[..at])]).unwrap().remove(0);
        let p = softmax(&logits)[ids[at] as usize];
        let token = &score.tokens[at - 1];
        assert_eq!(token.id, ids[at]);
        assert_eq!(token.top.len(), 2);
        assert_close(&[token.logprob], &[p.ln()], 1e-3, &format!("token {at}"));
    }
    let mean = -score.logprob() / 149.0;
    assert!((score.perplexity().unwrap() - mean.exp()).abs() < 1e-9);
}

#[test]
fn perplexity_is_one_for_a_sure_thing_and_the_vocabulary_for_a_uniform_model() {
    let token = |logprob: f32| slowburn::sampling::TokenLogprobs { id: 0, logprob, top: vec![] };
    let score = |logprob| Score { tokens: vec![token(logprob); 3] };
    assert_eq!(score(0.0).perplexity(), Some(1.0));
    let uniform = score(-(2048f32.ln())).perplexity().unwrap();
    assert!((uniform - 2048.0).abs() < 0.01, "{uniform}");
    assert_eq!(Score { tokens: vec![] }.perplexity(), None);
}

#[test]
fn what_cannot_be_scored_is_an_error() {
    let model = load("llama-gqa", &device()).model;
    assert!(matches!(
        generate::score(&model, &[], 0),
        Err(Error::Request(RequestError::EmptyPrompt))
    ));
    let outside = generate::score(&model, &[1, 100_000], 0);
    assert!(matches!(
        outside,
        Err(Error::Request(RequestError::TokenOutOfRange { id: 100_000, .. }))
    ));
    let long = vec![1; model.config().context_length + 1];
    assert!(matches!(
        generate::score(&model, &long, 0),
        Err(Error::Request(RequestError::PromptTooLong { .. }))
    ));
    assert_eq!(generate::score(&model, &[1], 0).unwrap().perplexity(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// A wider beam keeps all that a narrower one kept at the first step, and what it returns is
    /// always well formed.
    #[test]
    fn every_hypothesis_is_well_formed(seed in 0u64..1000, width in 1usize..8, max_tokens in 1usize..6) {
        let model = tiny(seed);
        let options = BeamOptions { width, max_tokens, ..BeamOptions::default() };
        let found = generate::beam(&model, &PROMPT, &options).unwrap();
        prop_assert!(!found.is_empty() && found.len() <= width);
        for (i, a) in found.iter().enumerate() {
            prop_assert!(a.logprob <= 0.0 && a.score <= 0.0);
            prop_assert!(!a.ids.contains(&END));
            let full = a.ids.len() == max_tokens;
            prop_assert_eq!(a.finish_reason == FinishReason::Length, full);
            prop_assert!(found[..i].iter().all(|b| a.ids != b.ids || a.finish_reason != b.finish_reason));
        }
    }
}
