//! The same numbers as another implementation: every fixture model gives the logits and the
//! greedy tokens that Hugging Face transformers computed from the same files.

mod common;

use common::{Expected, argmax, assert_close, devices, expected, go_on, load};
use slowburn::generate::{self, FinishReason, Loop, Options};
use slowburn::model::Model;
use slowburn::model::{Input, Logits};
use slowburn::sampling::SamplingParams;

/// One for each family, and for each way to store weights: f32, bf16 and f16, in one file and
/// in shards.
const MODELS: [&str; 10] = [
    "llama-gqa",
    "llama3-scaled",
    "qwen2",
    "qwen3",
    "gpt2",
    "mistral-window",
    "gemma3",
    "smollm3",
    "phi3",
    "qwen3-moe",
];

/// How far a logit may be from the reference. Both compute in f32, but sum in another order.
const TOLERANCE: f32 = 1e-3;

/// Runs a check with every model on every device.
fn for_all(check: impl Fn(&str, &Model, &Expected)) {
    for device in devices() {
        for name in MODELS {
            let pretrained = load(name, &device);
            assert!(pretrained.unused.is_empty(), "{name}: {:?}", pretrained.unused);
            let what = format!("{name} on {}", device.name);
            check(&what, &pretrained.model, &expected(name));
        }
    }
}

#[test]
fn logits_at_every_position_are_those_of_transformers() {
    for_all(|what, model, expected| {
        for (prompt, reference) in expected.prompts.iter().zip(&expected.logits) {
            let rows = model.forward(&mut [Input::whole(prompt).with_logits(Logits::All)]).unwrap();
            assert_eq!(rows.len(), reference.len());
            for (position, (row, reference)) in rows.iter().zip(reference).enumerate() {
                let what = format!("{what}, prompt of {}, position {position}", prompt.len());
                assert_close(row, reference, TOLERANCE, &what);
            }
        }
    });
}

#[test]
fn both_loops_choose_the_greedy_tokens_of_transformers() {
    let loops: [(&str, Loop); 2] = [("naive", generate::naive), ("cached", generate::cached)];
    for_all(|what, model, expected| {
        for (prompt, reference) in expected.prompts.iter().zip(&expected.greedy) {
            let options = Options {
                max_tokens: reference.len(),
                sampling: SamplingParams { temperature: 0.0, ..SamplingParams::default() },
                ignore_eos: true,
                ..Options::default()
            };
            for (name, generate) in loops {
                let found = generate(model, prompt, &options, &mut go_on).unwrap();
                let what = format!("{what}, {name}, prompt of {}", prompt.len());
                assert_eq!(&found.ids, reference, "{what}");
                assert_eq!(found.finish_reason, FinishReason::Length, "{what}");
            }
        }
    });
}

/// A prompt may reach the cache in pieces, or whole. That tests the mask and the positions at a start
/// other than 0, with one new row and with several.
#[test]
fn a_prompt_read_in_chunks_gives_the_same_logits_and_tokens() {
    for_all(|what, model, expected| {
        for (i, prompt) in expected.prompts.iter().enumerate() {
            for size in [1, 3, 8, prompt.len()] {
                let what = format!("{what}, prompt of {} in chunks of {size}", prompt.len());
                let greedy = &expected.greedy[i];
                let mut cache = model.new_cache(prompt.len() + greedy.len()).unwrap();
                let mut logits = Vec::new();
                for chunk in prompt.chunks(size) {
                    let first = cache.length();
                    let rows = model
                        .forward(&mut [Input::after(&mut cache, chunk).with_logits(Logits::All)])
                        .unwrap();
                    for (row, reference) in rows.iter().zip(&expected.logits[i][first..]) {
                        assert_close(row, reference, TOLERANCE, &what);
                    }
                    logits = rows.last().unwrap().clone();
                }

                let mut ids = prompt.clone();
                for &reference in greedy {
                    let uncached = model.forward(&mut [Input::whole(&ids)]).unwrap().remove(0);
                    assert_close(&logits, &uncached, TOLERANCE, &what);
                    let token = argmax(&logits);
                    assert_eq!(token, reference, "{what}, token {}", ids.len() - prompt.len());
                    ids.push(token);
                    logits =
                        model.forward(&mut [Input::after(&mut cache, &[token])]).unwrap().remove(0);
                }
                assert_eq!(cache.length(), ids.len(), "{what}");
            }
        }
    });
}

/// `forward` computes the head for one row only. That must be the last one.
#[test]
fn forward_is_the_last_row_of_forward_all() {
    for_all(|what, model, expected| {
        for prompt in &expected.prompts {
            let rows = model.forward(&mut [Input::whole(prompt).with_logits(Logits::All)]).unwrap();
            let last = model.forward(&mut [Input::whole(prompt)]).unwrap().remove(0);
            assert_close(&last, rows.last().unwrap(), 1e-4, what);

            let mut cache = model.new_cache(prompt.len()).unwrap();
            let rows = model
                .forward(&mut [Input::after(&mut cache, prompt).with_logits(Logits::All)])
                .unwrap();
            assert_close(&last, rows.last().unwrap(), 1e-4, what);
            assert_eq!(cache.length(), prompt.len());
        }
    });
}
