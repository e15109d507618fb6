//! The same numbers as another implementation: every fixture model gives the logits and the
//! greedy tokens that Hugging Face transformers computed from the same files.

mod common;

use common::texts::greedy;
use common::{Expected, argmax, assert_relatively_close, devices, expected, go_on, load};
use slowburn::device::OpenDevice;
use slowburn::generate::{self, FinishReason, Loop};
use slowburn::model::{Input, Logits, Model};
use slowburn_tests::MODELS;

/// How far a logit may be from the reference, as a share of the largest logit of its position: on the CPU,
/// and on other devices, whose operations are their own.
///
/// Both programs compute in f32, also where weights are stored in 16 bits, but sum in another order. The
/// references are up to 5.7e-6 from what transformers computes in f64, and those with the gated delta rule up to 1.8e-5
/// (`make_fixtures.py --f64`): one position of `qwen35` depends on the last digits of nearly everything before it.
fn tolerance(name: &str, device: &OpenDevice) -> f32 {
    match (device.name, name) {
        ("cpu", "qwen35") => 2e-5,
        ("cpu", _) => 1e-5,
        _ => 1e-4,
    }
}

/// Runs a check with every model on every device, and the tolerance there.
fn for_all(check: impl Fn(&str, &Model, &Expected, f32)) {
    for device in devices() {
        for name in MODELS.into_iter().filter(|name| *name != "ember") {
            let pretrained = load(name, &device);
            assert!(pretrained.unused.is_empty(), "{name}: {:?}", pretrained.unused);
            let what = format!("{name} on {}", device.name);
            check(&what, &pretrained.model, &expected(name), tolerance(name, &device));
        }
    }
}

#[test]
fn logits_at_every_position_are_those_of_transformers() {
    for_all(|what, model, expected, tolerance| {
        for (prompt, reference) in expected.prompts.iter().zip(&expected.logits) {
            let rows = model.forward(&mut [Input::whole(prompt).with_logits(Logits::All)]).unwrap();
            assert_eq!(rows.len(), reference.len());
            for (position, (row, reference)) in rows.iter().zip(reference).enumerate() {
                let what = format!("{what}, prompt of {}, position {position}", prompt.len());
                assert_relatively_close(row, reference, tolerance, &what);
            }
        }
    });
}

#[test]
fn both_loops_choose_the_greedy_tokens_of_transformers() {
    let loops: [(&str, Loop); 2] = [("naive", generate::naive), ("cached", generate::cached)];
    for_all(|what, model, expected, _| {
        for (prompt, reference) in expected.prompts.iter().zip(&expected.greedy) {
            let options = greedy(reference.len());
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
    for_all(|what, model, expected, tolerance| {
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
                        assert_relatively_close(row, reference, tolerance, &what);
                    }
                    logits = rows.last().unwrap().clone();
                }

                let mut ids = prompt.clone();
                for &reference in greedy {
                    let uncached = model.forward(&mut [Input::whole(&ids)]).unwrap().remove(0);
                    assert_relatively_close(&logits, &uncached, tolerance, &what);
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
    for_all(|what, model, expected, tolerance| {
        for prompt in &expected.prompts {
            let rows = model.forward(&mut [Input::whole(prompt).with_logits(Logits::All)]).unwrap();
            let last = model.forward(&mut [Input::whole(prompt)]).unwrap().remove(0);
            assert_relatively_close(&last, rows.last().unwrap(), tolerance, what);

            let mut cache = model.new_cache(prompt.len()).unwrap();
            let rows = model
                .forward(&mut [Input::after(&mut cache, prompt).with_logits(Logits::All)])
                .unwrap();
            assert_relatively_close(&last, rows.last().unwrap(), tolerance, what);
            assert_eq!(cache.length(), prompt.len());
        }
    });
}
