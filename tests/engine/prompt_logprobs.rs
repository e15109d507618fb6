//! The log-probabilities of a prompt that a batch reports are those of `generate::score`, bit for
//! bit, however the prompt is cut and whatever else runs.

use std::ops::ControlFlow;

use slowburn::generate::FinishReason;
use slowburn::inference::{GenerateRequest, InferenceBuilder, streaming_handler};
use slowburn::sampling::{TokenLogprobs, logprobs};

use super::*;

/// A token, the bits of its log-probability, and the same of the most likely ones.
type Bits = (u32, u32, Vec<(u32, u32)>);

/// All bits of what was reported.
fn bits(tokens: &[TokenLogprobs]) -> Vec<Bits> {
    let of = |token: &TokenLogprobs| {
        let top = token.top.iter().map(|(id, logprob)| (*id, logprob.to_bits()));
        (token.id, token.logprob.to_bits(), top.collect())
    };
    tokens.iter().map(of).collect()
}

fn ids(seed: u32, length: u32) -> Vec<u32> {
    (0..length).map(|i| 2 + (seed + 7 * i) % 40).collect()
}

fn options(max_tokens: usize, chunk: usize, prompt_logprobs: Option<usize>) -> Options {
    let options = super::options(max_tokens, max_tokens as u64);
    Options { chunk, prompt_logprobs, ..options }
}

/// What a request gets alone: its prompt scored, and its text.
fn alone(model: &Model, prompt: &[u32], options: &Options) -> Generation {
    let without = Options { prompt_logprobs: None, ..options.clone() };
    let generation = super::alone(model, prompt, &without);
    let score = options.prompt_logprobs.map(|top| generate::score(model, prompt, top).unwrap());
    let prompt_logprobs = score.map(|score| score.tokens).unwrap_or_default();
    Generation { prompt_logprobs, ..generation }
}

/// Requests of which some are scored, some write, some do both, and some share their beginning.
fn requests(chunk: usize) -> Vec<(Vec<u32>, Options)> {
    let long = ids(0, 70);
    vec![
        (ids(9, 40), options(60, chunk, None)),
        (long.clone(), options(3, chunk, None)),
        (long.clone(), options(0, chunk, Some(3))),
        (long.clone(), options(12, chunk, Some(0))),
        ([&long[..50], &[3, 4]].concat(), options(2, chunk, None)),
        ([&long[..50], &[3, 4]].concat(), options(2, chunk, Some(1))),
        (vec![5], options(0, chunk, Some(2))),
        (vec![5, 6], options(0, chunk, Some(2))),
        (vec![5], options(1, chunk, Some(2))),
        (ids(3, 33), options(0, chunk, Some(1))),
        (ids(4, 129), options(0, chunk, Some(1))),
    ]
}

#[test]
fn chunks_budgets_policies_and_preemption_change_no_bit() {
    for name in ["llama-gqa", "qwen3"] {
        let load = || load(name, &device()).model;
        let model = load();
        assert!(model.config().context_length >= 129);
        let block_bytes = model.kv_pool().block_bytes();
        let (mut preemptions, mut cached) = (0, 0);
        for chunk in [1, 7, 32, 33, 1000] {
            let requests = requests(chunk);
            let expected: Vec<_> =
                requests.iter().map(|(prompt, options)| alone(&model, prompt, options)).collect();
            for (blocks, config) in settings() {
                let model = load().with_kv_cache_bytes(blocks * block_bytes);
                let (prompts, options): (Vec<_>, Vec<_>) = requests.iter().cloned().unzip();
                let mut batch = Batch::with_config(&model, config);
                let found = batch.run(&prompts, &options, &mut |_, _| ControlFlow::Continue(()));
                for (i, (found, expected)) in zip(found.unwrap(), &expected).enumerate() {
                    let what = format!("{name}, {chunk}, {blocks} blocks, {config:?}, {i}");
                    let scores = bits(&expected.prompt_logprobs);
                    assert_eq!(bits(&found.prompt_logprobs), scores, "{what}");
                    assert_same(&found, expected, &what);
                    if options[i].prompt_logprobs.is_some() {
                        preemptions += found.preemptions;
                    } else {
                        cached += found.cached_tokens;
                    }
                }
            }
        }
        assert!(preemptions > 0 && cached > 0, "{name}: {preemptions}, {cached}");
    }
}

/// The number of blocks, and the settings of the scheduler.
fn settings() -> Vec<(usize, EngineConfig)> {
    let default = EngineConfig::default();
    let mut settings: Vec<_> =
        Policy::ALL.iter().map(|&policy| (1000, EngineConfig { policy, ..default })).collect();
    for token_budget in [1, 20, 64] {
        let config = EngineConfig { token_budget, ..default };
        settings.push((5, config));
        settings.push((9, EngineConfig { max_running: 3, prefix_cache: false, ..config }));
    }
    settings
}

/// A sequence that loses its blocks in the middle of its prompt computes them again, and no row
/// comes twice.
#[test]
fn every_row_comes_once_and_in_order_whatever_is_lost() {
    let model = load("llama-gqa", &device()).model;
    let prompt = ids(1, 100);
    let expected = generate::score(&model, &prompt, 2).unwrap().tokens;
    for lost_after in [1, 3, 8, 12] {
        let mut engine = Engine::new(&model, EngineConfig::default());
        let id = engine.arrive(&prompt, 4, 9, true).unwrap();
        let (mut found, mut sampled) = (Vec::new(), 0);
        for step in 1.. {
            for (_, outcome) in engine.step().1 {
                match outcome {
                    Outcome::PromptLogits { position, rows } => {
                        assert_eq!(position, 1 + found.len());
                        assert_eq!(sampled, 0);
                        let scored = rows.iter().zip(&prompt[position..]);
                        found.extend(scored.map(|(row, &id)| logprobs(row, id, 2)));
                    }
                    Outcome::Logits(_) => {
                        assert_eq!(found.len(), prompt.len() - 1);
                        sampled += 1;
                        engine.push(id, 5);
                    }
                    Outcome::MostLikely(_) => panic!("no sequence asks for it"),
                    Outcome::Checked { .. } => panic!("nobody drafts"),
                    Outcome::Failed(error) => panic!("{error}"),
                }
            }
            if step == lost_after {
                engine.lose_blocks();
            }
            if sampled == 4 {
                break;
            }
        }
        assert_eq!(bits(&found), bits(&expected), "lost after {lost_after} steps");
    }
}

#[test]
fn what_is_scored_fills_the_prefix_cache_and_does_not_read_it() {
    let model = bundled(&device()).model;
    let mut batch = Batch::new(&model);
    let prompt = ids(2, 70);
    let mut run = |options: Options| {
        let id = batch.join(&prompt, &options).unwrap();
        finish(&mut batch).remove(&id).unwrap()
    };
    let first = run(options(0, 256, Some(1)));
    assert_eq!((first.cached_tokens, first.ids.len()), (0, 0));
    assert_eq!(first.finish_reason, FinishReason::Length);
    assert_eq!(run(options(1, 256, None)).cached_tokens, 64);
    let again = run(options(0, 256, Some(1)));
    assert_eq!(again.cached_tokens, 0);
    assert_eq!(bits(&again.prompt_logprobs), bits(&first.prompt_logprobs));
}

#[test]
fn a_prompt_as_long_as_the_context_is_scored_and_nothing_follows() {
    let model = load("llama-gqa", &device()).model;
    let prompt = ids(0, model.config().context_length as u32);
    for (max_tokens, reason) in [(0, FinishReason::Length), (5, FinishReason::Context)] {
        let options = [options(max_tokens, 256, Some(0))];
        let found = Batch::new(&model)
            .run(std::slice::from_ref(&prompt), &options, &mut |_, _| {
                panic!("no token is sampled")
            })
            .unwrap();
        assert_eq!(found[0].finish_reason, reason);
        let expected = generate::score(&model, &prompt, 0).unwrap().tokens;
        assert_eq!(bits(&found[0].prompt_logprobs), bits(&expected));
    }
}

#[test]
fn a_sequence_that_leaves_early_has_what_was_scored_so_far() {
    let model = load("llama-gqa", &device()).model;
    let prompt = ids(0, 50);
    let mut batch = Batch::new(&model);
    let id = batch.join(&prompt, &options(3, 10, Some(1))).unwrap();
    assert!(batch.step().is_empty() && batch.step().is_empty());
    let found = batch.leave(id).unwrap();
    assert_eq!(found.finish_reason, FinishReason::Stopped);
    let expected = generate::score(&model, &prompt, 1).unwrap().tokens;
    assert_eq!(bits(&found.prompt_logprobs), bits(&expected[..20]));
}

#[test]
fn the_loops_for_one_sequence_say_who_scores_prompts() {
    let model = load("llama-gqa", &device()).model;
    for generate in [generate::naive, generate::cached] {
        let error = generate(&model, &[5, 6], &options(3, 256, Some(1)), &mut go_on).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Request(RequestError::Parameter { name: "prompt_logprobs", .. })
            ),
            "{error}"
        );
        assert!(error.to_string().contains("generate::score"), "{error}");
    }
}

#[test]
fn an_inference_delivers_them_with_the_completion() {
    let pretrained = load("llama-gqa", &device());
    let prompt = ids(1, 90);
    let expected = generate::score(&pretrained.model, &prompt, 2).unwrap().tokens;
    let build = InferenceBuilder::new().with_model(pretrained);
    let inference = build.with_chunk(20).build(streaming_handler).unwrap();
    let request = GenerateRequest::new(prompt.clone()).with_prompt_logprobs(2);
    for max_tokens in [0, 3] {
        let request = request.clone().with_max_tokens(max_tokens).with_ignore_eos(true);
        let collected = inference.infer(request).run().unwrap();
        let completion = &collected.completions[0];
        assert_eq!(bits(&completion.prompt_logprobs), bits(&expected));
        assert_eq!(completion.usage.completion_tokens, max_tokens);
        assert_eq!(completion.finish_reason, FinishReason::Length);
        assert_eq!(completion.timings.ttft.is_some(), max_tokens > 0);
    }
    // Without them, a request for no tokens is a mistake.
    let error = GenerateRequest::new(prompt).with_max_tokens(0).validate().unwrap_err();
    assert!(
        matches!(error, Error::Request(RequestError::Parameter { name: "max_tokens", .. })),
        "{error}"
    );
    let json = r#"{"prompt": "Once", "max_tokens": 0, "prompt_logprobs": 5}"#;
    let request: GenerateRequest = serde_json::from_str(json).unwrap();
    assert_eq!(request.prompt_logprobs, Some(5));
    request.validate().unwrap();
}
