//! A sequence in a batch is the sequence alone: whatever shares the batch, joins it or leaves.

mod common;

use std::iter::zip;
use std::ops::ControlFlow;
use std::sync::Arc;

use common::texts::{Finished, alone, finish, step};
use common::{assert_close, devices, go_on, load};
use slowburn::device::OpenDevice;
use slowburn::generate::{self, Batch, Event, FinishReason, Generation, Options};
use slowburn::kv::KvCache;
use slowburn::model::Input;
use slowburn::model::Model;
use slowburn::sampling::{Rules, SamplingParams};
use slowburn::{Error, RequestError, ServiceError};

fn small(device: &OpenDevice) -> Model {
    load("llama-gqa", device).model
}

/// `n` ids that are all in the vocabulary; another `salt`, other ids.
fn some_ids(n: usize, salt: usize) -> Vec<u32> {
    (0..n).map(|i| 2 + ((i * i * 31 + i * 7 + salt * 13) % 300) as u32).collect()
}

/// Greedy where the seed is 0.
fn options(max_tokens: usize, seed: u64) -> Options {
    let greedy = SamplingParams { temperature: 0.0, ..SamplingParams::default() };
    let drawn = SamplingParams { temperature: 1.2, seed, ..SamplingParams::default() };
    let sampling = if seed == 0 { greedy } else { drawn };
    Options {
        max_tokens,
        sampling,
        logprobs: Some(2),
        ..Options::default()
    }
}

/// Prompts of every kind of length, each with options of its own.
fn requests(model: &Model) -> (Vec<Vec<u32>>, Vec<Options>) {
    let context = model.config().context_length;
    let lengths = [
        (1, 20),
        (17, 3),
        (2, 40),
        (context, 5),
        (context - 1, 5),
        (context - 30, usize::MAX),
        (5, 0),
        (64, 12),
    ];
    let request = |(i, (length, max_tokens))| {
        let with_options = Options { ignore_eos: i % 2 == 0, ..options(max_tokens, i as u64 / 2) };
        (some_ids(length, i), with_options)
    };
    lengths.into_iter().enumerate().map(request).unzip()
}

#[track_caller]
fn assert_same(found: &Generation, alone: &Generation, what: &str) {
    assert_eq!(found.ids, alone.ids, "{what}");
    assert_eq!(found.finish_reason, alone.finish_reason, "{what}");
    assert_eq!(found.logprobs.len(), alone.logprobs.len(), "{what}");
    for (found, alone) in zip(&found.logprobs, &alone.logprobs) {
        assert_eq!(found.id, alone.id, "{what}");
        assert_close(&[found.logprob], &[alone.logprob], 1e-4, what);
    }
}

#[test]
fn every_sequence_is_what_it_is_alone() {
    for device in devices() {
        let model = small(&device);
        let (prompts, options) = requests(&model);
        let mut seen = vec![Vec::new(); prompts.len()];
        let together = generate::batched(&model, &prompts, &options, &mut |place, id| {
            seen[place].push(id);
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(together.len(), prompts.len());
        for (i, found) in together.iter().enumerate() {
            let what = format!("prompt {i} of {} tokens on {}", prompts[i].len(), device.name);
            assert_same(found, &alone(&model, &prompts[i], &options[i]), &what);
            assert_eq!(seen[i], found.ids, "{what}");
        }
        // Not all of them end in the same way.
        let reasons: Vec<_> = together.iter().map(|found| found.finish_reason.clone()).collect();
        assert!(reasons.contains(&FinishReason::Length), "{reasons:?}");
        assert!(reasons.contains(&FinishReason::Context), "{reasons:?}");
    }
}

/// How far logits may be apart: the same products, of which more are made at once.
const TOLERANCE: f32 = 1e-4;

/// Sequences of which some are new and some go on, with one or many new tokens each.
#[test]
fn a_pass_over_many_gives_each_the_logits_that_it_has_alone() {
    for device in devices() {
        for name in ["gpt2", "llama-gqa", "llama3-scaled", "qwen2", "qwen3"] {
            let model = load(name, &device).model;
            let vocab = model.config().vocab_size as u32;
            let lengths = [(0, 9), (5, 1), (0, 1), (20, 3), (1, 1)];
            let ids = lengths.map(|(old, new)| {
                some_ids(old + new, old).into_iter().map(|id| id % vocab).collect::<Vec<u32>>()
            });
            let mut caches: Vec<KvCache> = Vec::new();
            for (ids, (old, new)) in zip(&ids, lengths) {
                let mut cache = model.new_cache(old + new).unwrap();
                if old > 0 {
                    model.forward(&mut [Input::after(&mut cache, &ids[..old])]).unwrap().remove(0);
                }
                caches.push(cache);
            }
            let mut inputs: Vec<_> = zip(zip(&ids, &mut caches), lengths)
                .map(|((ids, cache), (old, _))| Input::after(cache, &ids[old..]))
                .collect();
            let rows = model.forward(&mut inputs).unwrap();
            drop(inputs);
            assert_eq!(rows.len(), lengths.len());
            for (i, row) in rows.iter().enumerate() {
                let alone = model.forward(&mut [Input::whole(&ids[i])]).unwrap().remove(0);
                assert_close(row, &alone, TOLERANCE, &format!("{name}, {}, {i}", device.name));
                assert_eq!(caches[i].length(), ids[i].len());
            }
        }
    }
}

#[test]
fn a_pass_that_cannot_be_changes_no_cache() {
    let model = small(&common::device());
    let (mut one, mut full) = (model.new_cache(4).unwrap(), model.new_cache(1).unwrap());
    let mut inputs = [
        Input::after(&mut one, &[5, 6]),
        Input::after(&mut full, &[7, 8]),
    ];
    let error = model.forward(&mut inputs).unwrap_err();
    assert!(
        matches!(error, Error::Request(RequestError::CacheFull { capacity: 1, new: 2, .. })),
        "{error}"
    );
    assert_eq!((one.length(), full.length()), (0, 0));
    assert!(model.forward(&mut []).unwrap().is_empty());
}

#[test]
fn sequences_join_in_mid_flight_and_change_nothing() {
    let model = small(&devices()[0]);
    let (prompts, options) = requests(&model);
    for stride in [1, 2, 5] {
        let mut batch = Batch::new(&model);
        let (mut joined, mut finished) = (Vec::new(), Finished::new());
        for (prompt, options) in zip(&prompts, &options) {
            joined.push(batch.join(prompt, options).unwrap());
            for _ in 0..stride {
                step(&mut batch, &mut finished);
            }
        }
        finished.extend(finish(&mut batch));
        assert_eq!(finished.len(), prompts.len());
        for (i, id) in joined.iter().enumerate() {
            let expected = alone(&model, &prompts[i], &options[i]);
            assert_same(&finished[id], &expected, &format!("prompt {i}"));
        }
    }
}

#[test]
fn a_sequence_that_ends_takes_its_cache_with_it() {
    let model = small(&devices()[0]);
    let mut batch = Batch::new(&model);
    let forever = Options { ignore_eos: true, ..options(50, 1) };
    let short = Options { ignore_eos: true, ..options(3, 2) };
    batch.join(&some_ids(8, 0), &forever).unwrap();
    batch.step();
    let long_alone = batch.kv_cache_bytes();
    batch.join(&some_ids(30, 1), &short).unwrap();
    batch.step();
    assert!(batch.kv_cache_bytes() > long_alone && long_alone > 0);
    assert!(batch.step().iter().all(|(_, event)| matches!(event, Event::Token(_))));
    assert_eq!(batch.len(), 2, "one token is left");
    assert!(matches!(batch.step()[2].1, Event::Finished(_)));
    assert_eq!((batch.len(), batch.kv_cache_bytes()), (1, long_alone));
    // One that fills the batch with nothing costs nothing.
    batch.join(&some_ids(4, 2), &options(0, 0)).unwrap();
    assert_eq!(batch.step().len(), 2, "a token of the first, the end of the second");
    assert_eq!((batch.len(), batch.kv_cache_bytes()), (1, long_alone));
}

#[test]
fn a_sequence_may_leave_or_pause_at_any_step() {
    let model = small(&devices()[0]);
    let mut batch = Batch::new(&model);
    let on = |seed| Options { ignore_eos: true, ..options(12, seed) };
    let (stays, leaves, pauses) = (some_ids(9, 0), some_ids(5, 1), some_ids(3, 2));
    let id = batch.join(&stays, &on(1)).unwrap();
    let leaving = batch.join(&leaves, &on(2)).unwrap();
    let pausing = batch.join(&pauses, &on(3)).unwrap();
    let mut finished = Finished::new();
    for _ in 0..4 {
        step(&mut batch, &mut finished);
    }
    let left = batch.leave(leaving).unwrap();
    assert_eq!(left.ids, alone(&model, &leaves, &on(2)).ids[..4]);
    assert_eq!(left.finish_reason, FinishReason::Stopped);
    assert!(batch.leave(leaving).is_none());

    batch.set_paused(pausing, true);
    for _ in 0..8 {
        step(&mut batch, &mut finished);
    }
    assert_eq!(Vec::from_iter(finished.keys()), [&id]);
    assert!(batch.step().is_empty(), "the only one left is paused");
    batch.set_paused(pausing, false);
    let rest = finish(&mut batch);
    assert_same(&finished[&id], &alone(&model, &stays, &on(1)), "the one that stayed");
    assert_same(&rest[&pausing], &alone(&model, &pauses, &on(3)), "the one that paused");
}

#[test]
fn a_callback_that_breaks_stops_one_sequence_only() {
    let model = small(&devices()[0]);
    let prompts = [some_ids(4, 0), some_ids(6, 1)];
    let on = [1, 2].map(|seed| Options { ignore_eos: true, ..options(10, seed) });
    let mut count = 0;
    let found = generate::batched(&model, &prompts, &on, &mut |place, _| {
        count += usize::from(place == 0);
        if place == 0 && count == 3 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })
    .unwrap();
    assert_eq!(found[0].finish_reason, FinishReason::Stopped);
    assert_eq!(found[0].ids, alone(&model, &prompts[0], &on[0]).ids[..3]);
    assert_same(&found[1], &alone(&model, &prompts[1], &on[1]), "the other");
}

#[test]
fn a_stop_id_ends_a_text_and_is_no_part_of_it() {
    let model = small(&devices()[0]);
    let prompt = some_ids(5, 3);
    let free = Options { ignore_eos: true, ..options(20, 4) };
    let ids = alone(&model, &prompt, &free).ids;
    let stop = *ids.iter().skip(4).find(|id| !ids[..4].contains(id)).unwrap();
    let place = ids.iter().position(|id| *id == stop).unwrap();
    let stopping = Options { stop_ids: vec![stop], ..free };
    for found in [
        alone(&model, &prompt, &stopping),
        generate::naive(&model, &prompt, &stopping, &mut go_on).unwrap(),
    ] {
        assert_eq!(found.finish_reason, FinishReason::StopId(stop));
        assert_eq!(found.ids, ids[..place]);
    }
}

#[test]
fn a_rule_that_panics_ends_its_own_sequence() {
    let model = small(&devices()[0]);
    let mut batch = Batch::new(&model);
    let on = Options { ignore_eos: true, ..options(6, 5) };
    let rule = |_: &mut [f32], _: &[u32], output: &[u32]| {
        assert!(output.len() < 2, "this rule is wrong");
    };
    let rules = Rules(vec![Arc::new(rule)]);
    let bad = batch.join(&some_ids(4, 0), &Options { rules, ..on.clone() }).unwrap();
    let good = batch.join(&some_ids(7, 1), &on).unwrap();
    let mut ends = Vec::new();
    while !batch.is_empty() {
        let is_end = |event: &(_, Event)| !matches!(event.1, Event::Token(_));
        ends.extend(batch.step().into_iter().filter(is_end));
    }
    let [
        (first, Event::Failed(error)),
        (second, Event::Finished(found)),
    ] = &ends[..]
    else {
        panic!("{ends:?}");
    };
    assert_eq!((*first, *second), (bad, good));
    assert!(
        matches!(error, Error::Service(ServiceError::Panicked { message, .. }) if message == "this rule is wrong")
    );
    assert_same(found, &alone(&model, &some_ids(7, 1), &on), "the other");
}

/// Of the others of a run that fails, none goes on in the steps that come next.
#[test]
fn a_run_that_fails_leaves_the_batch_as_it_was() {
    let model = small(&devices()[0]);
    let mut batch = Batch::new(&model);
    let (prompt, on) = (some_ids(4, 0), Options { ignore_eos: true, ..options(9, 1) });
    let stays = batch.join(&prompt, &on).unwrap();
    let mut fail = |prompts: [Vec<u32>; 2], last: Options| {
        let options = [Options { ignore_eos: true, ..options(5, 2) }, last];
        let error =
            batch.run(&prompts, &options, &mut |_, _| ControlFlow::Continue(())).unwrap_err();
        assert_eq!(batch.len(), 1, "{error}");
        error
    };
    // One that cannot join, and one whose first token cannot be sampled.
    let error = fail([some_ids(6, 1), Vec::new()], options(5, 3));
    assert!(matches!(error, Error::Request(RequestError::EmptyPrompt)), "{error}");
    let mut infinite = options(5, 3);
    infinite.sampling.repetition_penalty = f32::from_bits(1);
    let error = fail([some_ids(6, 1), some_ids(30, 2)], infinite);
    assert!(matches!(error, Error::Request(RequestError::Scores { .. })), "{error}");

    let finished = finish(&mut batch);
    assert_eq!(Vec::from_iter(finished.keys()), [&stays]);
    let expected = alone(&model, &prompt, &on);
    assert_same(&finished[&stays], &expected, "the one that was there before");
}

#[test]
fn what_cannot_start_is_refused_before_anything_is_computed() {
    let model = small(&devices()[0]);
    let mut never = |_, _| -> ControlFlow<()> { panic!("a token") };
    let mut fail = |prompts: &[Vec<u32>], options: &[Options]| {
        generate::batched(&model, prompts, options, &mut never).unwrap_err()
    };
    let good = some_ids(3, 0);
    let error = fail(&[good.clone(), good.clone()], &[options(1, 0)]);
    assert!(
        matches!(error, Error::Request(RequestError::Parameter { name: "options", .. })),
        "{error}"
    );
    let error = fail(&[good.clone(), Vec::new()], &[options(1, 0), options(1, 0)]);
    assert!(matches!(error, Error::Request(RequestError::EmptyPrompt)), "{error}");
    let mut hot = options(1, 0);
    hot.sampling.temperature = f32::NAN;
    let error = fail(&[good], &[hot]);
    assert!(
        matches!(error, Error::Request(RequestError::Parameter { name: "temperature", .. })),
        "{error}"
    );
    let none = generate::batched(&model, &[], &[], &mut |_, _| ControlFlow::Continue(()));
    assert!(none.unwrap().is_empty());
}
