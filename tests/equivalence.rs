//! The naive and the cached loop are the same function. Only the time they take differs.
//!
//! All of this runs on the bundled model and says nothing of its text, so it holds however
//! that model was trained.

mod common;

use std::ops::ControlFlow;

use common::{
    argmax, assert_close, bundled, copy_with_config, device, devices, distance, ember, fixture,
    go_on,
};
use slowburn::device::Precision;
use slowburn::generate::{self, FinishReason, Generation, Loop, Options};
use slowburn::model::{Input, Logits};
use slowburn::model::{Model, ModelConfig};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;
use slowburn::{Error, RequestError};

/// How far logits may be apart: the same f32 products, summed in another order.
const TOLERANCE: f32 = 1e-3;

const LOOPS: [(&str, Loop); 2] = [("naive", generate::naive), ("cached", generate::cached)];

fn greedy() -> SamplingParams {
    SamplingParams { temperature: 0.0, ..SamplingParams::default() }
}

/// `n` ids that are all in the vocabulary and follow no pattern that the model could know.
fn some_ids(n: usize, config: &ModelConfig) -> Vec<u32> {
    (0..n).map(|i| 2 + (i * i * 31 + i * 7) as u32 % (config.vocab_size as u32 - 2)).collect()
}

fn run(generate: Loop, model: &Model, prompt: &[u32], options: &Options) -> Generation {
    generate(model, prompt, options, &mut go_on).unwrap()
}

#[test]
fn cached_logits_are_the_naive_ones_at_every_step() {
    for device in devices() {
        let model = bundled(&device).model;
        let mut ids = some_ids(5, model.config());
        let mut cache = model.new_cache(ids.len() + 60).unwrap();
        let mut cached = model.forward(&mut [Input::after(&mut cache, &ids)]).unwrap().remove(0);
        let mut greatest = 0f32;
        for step in 0..60 {
            let naive = model.forward(&mut [Input::whole(&ids)]).unwrap().remove(0);
            greatest = greatest.max(distance(&cached, &naive));
            assert_close(&cached, &naive, TOLERANCE, &format!("{}, step {step}", device.name));
            ids.push(argmax(&naive));
            cached = model
                .forward(&mut [Input::after(&mut cache, &ids[ids.len() - 1..])])
                .unwrap()
                .remove(0);
        }
        println!("{}: the greatest difference is {greatest:e}", device.name);
    }
}

#[test]
fn both_loops_give_the_same_tokens_and_logprobs() {
    let sampled = (1..=4).map(|seed| SamplingParams {
        temperature: 0.9,
        top_p: Some(0.95),
        seed,
        ..SamplingParams::default()
    });
    let hot = SamplingParams { temperature: 1.5, seed: 5, ..SamplingParams::default() };
    for device in devices() {
        let pretrained = bundled(&device);
        let prompt = pretrained.prompt_ids("Once upon a time").unwrap();
        for sampling in sampled.clone().chain([greedy(), hot.clone()]) {
            let options = Options {
                max_tokens: 60,
                sampling,
                ignore_eos: true,
                logprobs: Some(5),
                ..Options::default()
            };
            let naive = run(generate::naive, &pretrained.model, &prompt, &options);
            let cached = run(generate::cached, &pretrained.model, &prompt, &options);
            let what = format!("{}, {:?}", device.name, options.sampling);
            assert_eq!(naive.ids, cached.ids, "{what}");
            assert_eq!(naive.ids.len(), 60, "{what}");
            assert_eq!(naive.finish_reason, cached.finish_reason, "{what}");
            assert_eq!(naive.logprobs.len(), 60, "{what}");
            for (naive, cached) in naive.logprobs.iter().zip(&cached.logprobs) {
                assert_eq!(naive.id, cached.id, "{what}");
                // Only the values: tokens that are equally likely may change places.
                let values = |row: &slowburn::sampling::TokenLogprobs| -> Vec<f32> {
                    let top = row.top.iter().map(|(_, logprob)| *logprob);
                    top.chain([row.logprob]).collect()
                };
                assert_close(&values(cached), &values(naive), TOLERANCE, &what);
            }
        }
    }
}

#[test]
fn without_ignore_eos_both_loops_end_at_the_same_place() {
    let pretrained = bundled(&device());
    let prompt = pretrained.prompt_ids("The end").unwrap();
    for seed in 0..3 {
        let sampling = SamplingParams { seed, ..SamplingParams::default() };
        let options = Options { max_tokens: 60, sampling, ..Options::default() };
        let naive = run(generate::naive, &pretrained.model, &prompt, &options);
        let cached = run(generate::cached, &pretrained.model, &prompt, &options);
        assert_eq!(naive.ids, cached.ids);
        assert_eq!(naive.finish_reason, cached.finish_reason);
    }
}

/// The rotation has no row beyond the context, so a loop that ran on would fail here.
#[test]
fn generation_ends_where_the_context_ends() {
    for device in devices() {
        let model = bundled(&device).model;
        let context = model.config().context_length;
        let prompt = some_ids(context - 6, model.config());
        let options = |max_tokens| Options {
            max_tokens,
            sampling: greedy(),
            ignore_eos: true,
            ..Options::default()
        };
        let mut found = Vec::new();
        for (name, generate) in LOOPS {
            let what = format!("{name} on {}", device.name);
            let endless = run(generate, &model, &prompt, &options(usize::MAX));
            assert_eq!(endless.finish_reason, FinishReason::Context, "{what}");
            assert_eq!(prompt.len() + endless.ids.len(), context, "{what}");
            found.push(endless.ids);

            // As many as there is room for: that is what was asked for.
            let exact = run(generate, &model, &prompt, &options(6));
            assert_eq!(exact.finish_reason, FinishReason::Length, "{what}");
            assert_eq!(exact.ids.len(), 6, "{what}");
        }
        assert_eq!(found[0], found[1], "{}", device.name);
    }
}

#[test]
fn a_prompt_that_fills_the_context_leaves_room_for_nothing() {
    let model = bundled(&device()).model;
    let prompt = some_ids(model.config().context_length, model.config());
    let options = Options { max_tokens: 10, ..Options::default() };
    for (name, generate) in LOOPS {
        let found = run(generate, &model, &prompt, &options);
        assert!(found.ids.is_empty(), "{name}: {:?}", found.ids);
        assert_eq!(found.finish_reason, FinishReason::Context, "{name}");
    }
    // It can still be read: one position more cannot.
    model.forward(&mut [Input::whole(&prompt)]).unwrap().remove(0);
    let longer = some_ids(prompt.len() + 1, model.config());
    assert!(matches!(
        model.forward(&mut [Input::whole(&longer)]),
        Err(Error::Request(RequestError::PromptTooLong { .. }))
    ));
    for (name, generate) in LOOPS {
        let error = generate(&model, &longer, &options, &mut go_on).unwrap_err();
        assert!(
            matches!(error, Error::Request(RequestError::PromptTooLong { .. })),
            "{name}: {error}"
        );
    }
}

#[test]
fn no_tokens_asked_for_gives_none() {
    let model = bundled(&device()).model;
    let mut calls = 0;
    for (name, generate) in LOOPS {
        let options = Options { max_tokens: 0, ..Options::default() };
        let found = generate(&model, &[5, 6, 7], &options, &mut |_| {
            calls += 1;
            ControlFlow::Continue(())
        });
        let found = found.unwrap();
        assert!(found.ids.is_empty(), "{name}: {:?}", found.ids);
        assert_eq!(found.finish_reason, FinishReason::Length, "{name}");
    }
    assert_eq!(calls, 0);
}

#[test]
fn a_callback_that_breaks_stops_the_loop_and_keeps_its_token() {
    let model = bundled(&device()).model;
    // The third token, and then the very last one that was asked for.
    for last in [2, 9] {
        let options = Options { max_tokens: 10, ignore_eos: true, ..Options::default() };
        for (name, generate) in LOOPS {
            let mut seen = Vec::new();
            let found = generate(&model, &[5, 6, 7], &options, &mut |chosen| {
                assert_eq!(chosen.token.index, seen.len(), "{name}");
                seen.push(chosen.token.token_id);
                if chosen.token.index == last {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            let found = found.unwrap();
            assert_eq!(found.finish_reason, FinishReason::Stopped, "{name}");
            assert_eq!(found.ids.len(), last + 1, "{name}");
            assert_eq!(found.ids, seen, "{name}");
        }
    }
}

/// The end-of-sequence token is made to come for sure: the configuration is changed so that it
/// is one that a certain seed draws third.
#[test]
fn the_end_of_sequence_token_ends_the_text_and_is_not_part_of_it() {
    let device = device();
    let model = bundled(&device).model;
    let prompt = [5, 6, 7];
    let options = |seed, ignore_eos| Options {
        max_tokens: 10,
        sampling: SamplingParams { seed, ..SamplingParams::default() },
        ignore_eos,
        logprobs: Some(1),
        ..Options::default()
    };
    let free = |seed| run(generate::naive, &model, &prompt, &options(seed, true)).ids;
    let is_new = |ids: &[u32]| !ids[..2].contains(&ids[2]);
    let (seed, free) =
        (0..100).map(|seed| (seed, free(seed))).find(|(_, ids)| is_new(ids)).unwrap();

    for (place, stop) in [(2, free[2]), (0, free[0])] {
        // Alone, and as one of several.
        for eos in [serde_json::json!(stop), serde_json::json!([stop, stop])] {
            let folder = copy_with_config(&ember(), |config| config["eos_token_id"] = eos);
            let model = Pretrained::load(folder.path(), &device, Precision::F32).unwrap().model;
            for (name, generate) in LOOPS {
                let mut calls = 0;
                let ended = generate(&model, &prompt, &options(seed, false), &mut |_| {
                    calls += 1;
                    ControlFlow::Continue(())
                });
                let ended = ended.unwrap();
                assert_eq!(ended.finish_reason, FinishReason::Eos, "{name}");
                assert_eq!(ended.ids, free[..place], "{name}");
                assert_eq!(ended.logprobs.len(), place, "{name}");
                assert_eq!(calls, place, "{name}");

                let on = run(generate, &model, &prompt, &options(seed, true));
                assert_eq!(on.finish_reason, FinishReason::Length, "{name}");
                assert_eq!(on.ids, free, "{name}");
            }
        }
    }
}

/// Published folders name the tokens that end a chat turn in `generation_config.json` only. The
/// one to begin with, where there is no prompt, is taken from there too, as in transformers.
#[test]
fn generation_config_overrides_the_tokens_that_begin_and_end_a_sequence() {
    let (own_bos, own_eos) = (Some(0), vec![1]);
    for (json, bos, eos) in [
        (r#"{"eos_token_id": [7, 9]}"#, own_bos, vec![7, 9]),
        (r#"{"bos_token_id": 5}"#, Some(5), own_eos.clone()),
        (r#"{"bos_token_id": 5, "eos_token_id": 7}"#, Some(5), vec![7]),
        (r#"{"bos_token_id": null, "eos_token_id": null}"#, own_bos, own_eos.clone()),
    ] {
        let folder = copy_with_config(&fixture("models/llama-gqa"), |_| {});
        std::fs::write(folder.path().join("generation_config.json"), json).unwrap();
        let pretrained = Pretrained::load(folder.path(), &device(), Precision::F32).unwrap();
        assert_eq!(pretrained.model.config().bos_token_id, bos, "{json}");
        assert_eq!(pretrained.model.config().eos_token_ids, eos, "{json}");
        assert_eq!(pretrained.prompt_ids("").unwrap(), [bos.unwrap()], "{json}");
    }
}

#[test]
fn the_cache_takes_the_bytes_of_its_formula() {
    for device in devices() {
        for precision in [Precision::F32, Precision::F16] {
            let Ok(dtype) = device.check(precision) else {
                continue;
            };
            let model = Pretrained::bundled(&device, precision).unwrap().model;
            let config = model.config();
            let formula = |capacity: usize| {
                2 * config.n_layers * config.n_kv_heads * capacity * config.head_dim * dtype.size()
            };
            // Where the kernels of this crate compute, memory is taken as it is written to, in blocks
            // of 32 tokens; elsewhere all of it at once.
            let in_blocks = device.name != "ndarray";
            let taken = |length: usize, capacity: usize| {
                if in_blocks {
                    formula(length.next_multiple_of(32))
                } else {
                    formula(capacity)
                }
            };
            for capacity in [1, 16, 100, config.context_length] {
                let cache = model.new_cache(capacity).unwrap();
                assert_eq!(cache.bytes(), taken(0, capacity));
                assert_eq!((cache.length(), cache.capacity()), (0, capacity));
            }
            // No more than the context, whatever is asked for.
            let most = model.new_cache(usize::MAX).unwrap();
            assert_eq!(most.capacity(), config.context_length);
            assert_eq!(most.bytes(), taken(0, config.context_length));

            for (max_tokens, length) in [(5, 7), (29, 31), (30, 32), (31, 33)] {
                let options = Options { max_tokens, ignore_eos: true, ..Options::default() };
                let cached = run(generate::cached, &model, &[5, 6, 7], &options);
                // The last token is chosen and not read.
                assert_eq!(cached.kv_cache_bytes, taken(length, 3 + max_tokens), "{max_tokens}");
            }
            let options = Options { max_tokens: 5, ..Options::default() };
            assert_eq!(run(generate::naive, &model, &[5, 6, 7], &options).kv_cache_bytes, 0);
        }
    }
}

#[test]
fn a_full_cache_refuses_more_and_keeps_what_it_holds() {
    for device in devices() {
        let model = bundled(&device).model;
        let mut cache = model.new_cache(8).unwrap();
        model.forward(&mut [Input::after(&mut cache, &[5, 6, 7, 8, 9, 10])]).unwrap().remove(0);

        let error = model.forward(&mut [Input::after(&mut cache, &[11, 12, 13])]).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Request(RequestError::CacheFull { capacity: 8, length: 6, new: 3 })
            ),
            "{error}"
        );
        let error = model
            .forward(&mut [Input::after(&mut cache, &[11, 12, 13]).with_logits(Logits::All)])
            .unwrap_err();
        assert!(matches!(error, Error::Request(RequestError::CacheFull { .. })), "{error}");
        assert_eq!(cache.length(), 6);

        // What fits goes on as if nothing had happened.
        let found = model.forward(&mut [Input::after(&mut cache, &[11, 12])]).unwrap().remove(0);
        let reference =
            model.forward(&mut [Input::whole(&[5, 6, 7, 8, 9, 10, 11, 12])]).unwrap().remove(0);
        assert_close(&found, &reference, TOLERANCE, device.name);
        assert_eq!(cache.length(), 8);
        assert!(matches!(
            model.forward(&mut [Input::after(&mut cache, &[13])]),
            Err(Error::Request(RequestError::CacheFull { .. }))
        ));
    }
}

#[test]
fn ids_that_cannot_be_read_leave_the_cache_as_it_was() {
    let model = bundled(&device()).model;
    let vocab_size = model.config().vocab_size as u32;
    let mut cache = model.new_cache(8).unwrap();
    model.forward(&mut [Input::after(&mut cache, &[5, 6])]).unwrap().remove(0);
    let outside = model.forward(&mut [Input::after(&mut cache, &[7, vocab_size])]).unwrap_err();
    assert!(
        matches!(outside, Error::Request(RequestError::TokenOutOfRange { .. })),
        "{outside}"
    );
    let none = model.forward(&mut [Input::after(&mut cache, &[])]).unwrap_err();
    assert!(matches!(none, Error::Request(RequestError::EmptyPrompt)), "{none}");
    assert_eq!(cache.length(), 2);
}
