//! KV caches in blocks, beside the same text without one.

use std::thread;

use slowburn::device::OpenDevice;
use slowburn::kernels::KvFormat;
use slowburn::model::{Input, Logits, Model};

use crate::common::load;
use crate::{cubes, invariant};

fn ids(seed: u32, length: usize) -> Vec<u32> {
    (0..length as u32).map(|i| (seed + 3 * i) % 50).collect()
}

#[track_caller]
fn assert_same_bits(found: &[f32], expected: &[f32], what: &str) {
    let bits = |row: &[f32]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(found), bits(expected), "{what}");
}

fn last_row(model: &Model, ids: &[u32]) -> Vec<f32> {
    model.forward(&mut [Input::whole(ids)]).unwrap().remove(0)
}

/// Lengths at the borders of blocks, of windows and of the context.
#[test]
fn a_cache_of_any_length_goes_on_like_the_whole_text() {
    if let Some(device) = invariant() {
        for name in ["llama-gqa", "mistral-window"] {
            let model = load(name, &device).model;
            let context = model.config().context_length;
            for length in [
                1,
                7,
                8,
                9,
                31,
                32,
                33,
                63,
                64,
                65,
                127,
                128,
                129,
                context - 1,
                context,
            ] {
                let text = ids(length as u32, length);
                let what = format!("{name} on {device}, {length}");
                let mut cache = model.new_cache(length).unwrap();
                let (before, last) = text.split_at(length - 1);
                if !before.is_empty() {
                    let input = Input::after(&mut cache, before).with_logits(Logits::None);
                    assert!(model.forward(&mut [input]).unwrap().is_empty());
                }
                let found = model.forward(&mut [Input::after(&mut cache, last)]).unwrap().remove(0);
                assert_same_bits(&found, &last_row(&model, &text), &what);
                let block = model.kv_pool().block_bytes();
                assert_eq!(cache.bytes(), length.div_ceil(32) * block, "{what}");
                let error = model.forward(&mut [Input::after(&mut cache, &[1])]).unwrap_err();
                assert!(error.to_string().contains("do not fit"), "{error}");
                drop(cache);
                assert_eq!(model.kv_pool().bytes(), 0, "{what}");
            }
        }
    }
}

/// On every device: a text alone and whole, and in chunks beside another.
#[test]
fn every_device_gives_a_row_the_same_bits_in_every_batch_and_chunk() {
    for device in cubes() {
        let device = OpenDevice { batch_invariant: true, ..device };
        for format in [KvFormat::F32, KvFormat::Int8] {
            let model = load("llama-gqa", &device).model.with_kv_format(format).unwrap();
            in_batches_and_chunks(&model, &format!("{device}, {format:?}"));
        }
    }
}

fn in_batches_and_chunks(model: &Model, what: &str) {
    let (text, other) = (ids(3, 140), ids(4, 70));
    let rows = model.forward(&mut [Input::whole(&text).with_logits(Logits::All)]).unwrap();
    let [mut cache, mut beside] = [140, 70].map(|length| model.new_cache(length).unwrap());
    let mut found = Vec::new();
    for (chunk, rest) in [(0..33, 0..5), (33..34, 5..69), (34..140, 69..70)] {
        let chunk = Input::after(&mut cache, &text[chunk]).with_logits(Logits::All);
        let rest = Input::after(&mut beside, &other[rest]).with_logits(Logits::None);
        found.extend(model.forward(&mut [rest, chunk]).unwrap());
    }
    for (position, (found, expected)) in found.iter().zip(&rows).enumerate() {
        assert_same_bits(found, expected, &format!("{what}, position {position}"));
    }
    assert_eq!(found.len(), rows.len());
}

/// The slab grows while it is in use, and its blocks are taken by others when they are given back.
#[test]
fn memory_grows_and_is_used_again() {
    if let Some(device) = invariant() {
        let model = load("llama-gqa", &device).model;
        let expected: Vec<_> = (0..6).map(|i| last_row(&model, &ids(i, 90))).collect();
        for round in 0..2 {
            let mut caches: Vec<_> = (0..6).map(|_| model.new_cache(90).unwrap()).collect();
            for (i, cache) in caches.iter_mut().enumerate() {
                model.forward(&mut [Input::after(cache, &ids(i as u32, 89))]).unwrap();
            }
            // The last is given back, and its blocks go to the others.
            caches.pop();
            for (i, cache) in caches.iter_mut().enumerate() {
                let token = ids(i as u32, 90)[89];
                let found = model.forward(&mut [Input::after(cache, &[token])]).unwrap().remove(0);
                let what = format!("{device}, round {round}, cache {i}");
                assert_same_bits(&found, &expected[i], &what);
            }
            assert_eq!(model.kv_pool().bytes(), 5 * 3 * model.kv_pool().block_bytes());
        }
    }
}

#[test]
fn forks_share_and_truncated_caches_forget() {
    if let Some(device) = invariant() {
        let model = load("llama-gqa", &device).model;
        let block = model.kv_pool().block_bytes();
        for (kept, dropped) in [(40, 30), (32, 5), (64, 1), (5, 80)] {
            let mut cache = model.new_cache(200).unwrap();
            model.forward(&mut [Input::after(&mut cache, &ids(0, kept))]).unwrap();
            model.forward(&mut [Input::after(&mut cache, &ids(1, dropped))]).unwrap();
            cache.truncate(kept);
            let mut fork = cache.fork().unwrap();
            let blocks = kept.div_ceil(32);
            assert_eq!(model.kv_pool().bytes(), blocks * block, "nothing is copied yet");
            for (cache, seed, new) in [(&mut cache, 2, 1), (&mut fork, 3, 7)] {
                let rest = ids(seed, new);
                let found = model.forward(&mut [Input::after(cache, &rest)]).unwrap().remove(0);
                let whole = [ids(0, kept), rest].concat();
                let what = format!("{device}, {kept}, {dropped}");
                assert_same_bits(&found, &last_row(&model, &whole), &what);
            }
        }
    }
}

/// Threads share the slab, which grows for one while another computes.
#[test]
fn threads_take_turns() {
    if let Some(device) = invariant() {
        let model = load("llama-gqa", &device).model;
        let expected: Vec<_> = (0..3).map(|i| last_row(&model, &ids(i, 100))).collect();
        thread::scope(|scope| {
            for (i, expected) in expected.iter().enumerate() {
                let (model, device) = (&model, &device);
                scope.spawn(move || {
                    let mut cache = model.new_cache(100).unwrap();
                    let mut found = Vec::new();
                    for chunk in ids(i as u32, 100).chunks(30) {
                        found = model
                            .forward(&mut [Input::after(&mut cache, chunk)])
                            .unwrap()
                            .remove(0);
                    }
                    let what = format!("{device}, thread {i}");
                    assert_same_bits(&found, expected, &what);
                });
            }
        });
    }
}

/// What no device holds is an error before anything is computed, and a pool that is full another.
#[test]
fn memory_that_is_not_there_is_an_error() {
    if let Some(device) = invariant() {
        let model = load("llama-gqa", &device).model;
        let block = model.kv_pool().block_bytes();
        let model = model.with_kv_cache_bytes(2 * block);
        let mut cache = model.new_cache(100).unwrap();
        model.forward(&mut [Input::after(&mut cache, &ids(0, 64))]).unwrap();
        let error = model.forward(&mut [Input::after(&mut cache, &[1])]).unwrap_err();
        assert!(error.to_string().contains("memory"), "{error}");
        assert_eq!((cache.length(), model.kv_pool().bytes()), (64, 2 * block));
    }
}
