//! Several users of one model's memory for keys and values: what fits alone ends, with the same
//! bits, whoever else holds blocks.

use std::sync::Arc;

use slowburn::engine::Entry;
use slowburn::inference::{GenerateRequest, InferenceBuilder, Prompt, streaming_handler};
use slowburn::pretrained::Pretrained;

use super::*;
use crate::common::watchdog::watch;

fn ids(seed: usize, length: usize) -> Vec<u32> {
    (0..length).map(|i| (5 + (seed + i * 7) % 40) as u32).collect()
}

fn roomy() -> Model {
    bundled(&device()).model
}

fn with_blocks(blocks: usize) -> Model {
    let model = roomy();
    let bytes = blocks * model.kv_pool().block_bytes();
    model.with_kv_cache_bytes(bytes)
}

/// What an idle batch has cached is evicted for whoever needs the memory.
#[test]
fn an_idle_batch_with_cached_prefixes_gives_way_to_any_cache() {
    let model = with_blocks(4);
    let mut batch = Batch::new(&model);
    let (prompt, options) = (ids(0, 100), options(20, 1));
    let id = batch.join(&prompt, &options).unwrap();
    let expected = alone(&roomy(), &prompt, &options);
    assert_same(&finish(&mut batch)[&id], &expected, "the first time");
    assert!(model.kv_pool().bytes() > 0, "its prefix is cached");

    let text = ids(3, 120);
    let expected_score = generate::score(&roomy(), &text, 0).unwrap();
    assert_eq!(generate::score(&model, &text, 0).unwrap(), expected_score);
    assert_same(&alone(&model, &prompt, &options), &expected, "alone");
    let mut cache = model.new_cache(128).unwrap();
    model.forward(&mut [Input::after(&mut cache, &text)]).unwrap();
    drop(cache);

    // The batch finds nothing of what it had, and computes it again.
    let id = batch.join(&prompt, &options).unwrap();
    let found = finish(&mut batch);
    assert_same(&found[&id], &expected, "the second time");
    assert_eq!(found[&id].cached_tokens, 0);
}

/// Blocks that one batch holds for nobody are there for another.
#[test]
fn an_idle_batch_gives_way_to_another_batch() {
    let model = with_blocks(4);
    let (mut first, mut second) = (Batch::new(&model), Batch::new(&model));
    for round in 0..3 {
        for batch in [&mut first, &mut second] {
            let (prompt, options) = (ids(round, 70), options(40, round as u64));
            let id = batch.join(&prompt, &options).unwrap();
            let expected = alone(&roomy(), &prompt, &options);
            assert_same(&finish(batch)[&id], &expected, &format!("round {round}"));
        }
    }
}

/// A sequence that could not go on waits for a cache that holds the memory.
#[test]
fn a_sequence_waits_for_a_live_cache() {
    let model = with_blocks(6);
    let mut cache = model.new_cache(128).unwrap();
    model.forward(&mut [Input::after(&mut cache, &ids(9, 80))]).unwrap();
    let mut batch = Batch::new(&model);
    let requests = [(ids(0, 60), options(100, 1)), (ids(1, 90), options(30, 2))];
    let joined = requests.each_ref().map(|(prompt, options)| batch.join(prompt, options).unwrap());
    let mut found = Finished::new();
    for _ in 0..100 {
        step(&mut batch, &mut found);
    }
    assert_eq!(found.len(), 0, "two of five blocks are missing");
    drop(cache);
    let found = finish(&mut batch);
    for (id, (prompt, options)) in zip(joined, &requests) {
        assert_same(&found[&id], &alone(&roomy(), prompt, options), &format!("{id}"));
    }
}

/// Two sequences of two batches, of which each fits alone and both together do not.
#[test]
fn of_two_batches_that_need_the_same_blocks_one_is_preempted() {
    for prefix_cache in [true, false] {
        let model = with_blocks(5);
        let config = EngineConfig { prefix_cache, ..EngineConfig::default() };
        let mut batches = [0, 1].map(|_| Batch::with_config(&model, config));
        let requests = [(ids(0, 40), options(88, 1)), (ids(1, 50), options(78, 2))];
        let joined: Vec<_> = zip(&mut batches, &requests)
            .map(|(batch, (prompt, options))| batch.join(prompt, options).unwrap())
            .collect();
        let mut found = [Finished::new(), Finished::new()];
        let mut steps = 0;
        while batches.iter().any(|batch| !batch.is_empty()) {
            for (batch, found) in zip(&mut batches, &mut found) {
                step(batch, found);
            }
            steps += 1;
            assert!(steps < 2000, "nobody goes on");
        }
        for ((found, id), (prompt, options)) in zip(zip(&found, &joined), &requests) {
            let what = format!("{} tokens, prefix cache: {prefix_cache}", prompt.len());
            assert_same(&found[id], &alone(&roomy(), prompt, options), &what);
        }
        assert_eq!(found[0][&joined[0]].preemptions, 0);
        assert!(found[1][&joined[1]].preemptions > 0);
    }
}

/// What is free is too little, and with what a later batch holds for a paused sequence it is enough.
#[test]
fn a_batch_takes_what_is_free_and_the_rest_from_a_later_one() {
    let model = with_blocks(5);
    let (mut first, mut second) = (Batch::new(&model), Batch::new(&model));
    let (early, late) = ((ids(0, 100), options(20, 1)), (ids(1, 70), options(20, 2)));
    let mut of_first = Finished::new();
    let paused = second.join(&late.0, &late.1).unwrap();
    step(&mut second, &mut Finished::new());
    second.set_paused(paused, true);
    assert_eq!(second.scheduler().blocks().owned(), 3);

    let id = first.join(&early.0, &early.1).unwrap();
    let mut steps = 0;
    while !first.is_empty() {
        step(&mut first, &mut of_first);
        steps += 1;
        assert!(steps < 500, "it waits for blocks that it could have");
    }
    assert_same(&of_first[&id], &alone(&roomy(), &early.0, &early.1), "the earlier one");
    second.set_paused(paused, false);
    let of_second = finish(&mut second);
    assert_same(&of_second[&paused], &alone(&roomy(), &late.0, &late.1), "the later one");
    assert_eq!((of_first[&id].preemptions, of_second[&paused].preemptions), (0, 1));
}

/// Whoever calls `score` has no other sequence that could wait: the batch gives back what it holds.
#[test]
fn a_batch_in_progress_gives_way_to_a_cache() {
    let model = with_blocks(5);
    let mut batch = Batch::new(&model);
    let (prompt, options) = (ids(0, 60), options(90, 1));
    let id = batch.join(&prompt, &options).unwrap();
    let text = ids(3, 140);
    let expected = generate::score(&roomy(), &text, 0).unwrap();
    let mut found = Finished::new();
    for round in 0.. {
        step(&mut batch, &mut found);
        if batch.is_empty() {
            break;
        }
        if round % 20 == 5 {
            assert_eq!(generate::score(&model, &text, 0).unwrap(), expected);
        }
    }
    assert_same(&found[&id], &alone(&roomy(), &prompt, &options), "a batch that gave way");
    assert!(found[&id].preemptions >= 2);
}

/// What others took is in the record, so that the same plans are made again without them.
#[test]
fn a_record_of_an_engine_that_shares_its_memory_can_be_repeated() {
    let model = with_blocks(6);
    let (mut recorded, mut other) = (Batch::new(&model), Batch::new(&model));
    recorded.keep_record();
    let mut found = Finished::new();
    for round in 0..3 {
        let options = options(60, round as u64);
        for seed in [round, 0] {
            recorded.join(&ids(seed, 60 + 8 * round), &options).unwrap();
        }
        other.join(&ids(7 + round, 60), &options).unwrap();
        let mut cache = model.new_cache(64).unwrap();
        model.forward(&mut [Input::after(&mut cache, &ids(1, 40))]).unwrap();
        for _ in 0..30 {
            step(&mut recorded, &mut found);
        }
        drop(cache);
        generate::score(&model, &ids(3, 140), 0).unwrap();
        while !recorded.is_empty() || !other.is_empty() {
            step(&mut recorded, &mut found);
            step(&mut other, &mut Finished::new());
        }
    }
    let record = recorded.take_record();
    let is_lent = |entry: &&Entry| matches!(entry, Entry::Lent { .. });
    assert!(record.iter().filter(is_lent).count() > 2);

    let again = with_blocks(6);
    let mut engine = Engine::new(&again, EngineConfig::default());
    for entry in record {
        match entry {
            Entry::Start { .. } | Entry::Logits { .. } | Entry::PromptLogits { .. } => {}
            Entry::Event { event } => engine.handle(event).unwrap(),
            Entry::Step { decisions } => assert_eq!(engine.step().0.decisions, decisions),
            Entry::Limit { blocks, idle } => engine.set_limit(blocks, idle),
            Entry::Lent { blocks, preempt } => engine.lend(blocks, preempt),
            Entry::Failed { .. } | Entry::Lost | Entry::End { .. } => panic!("{entry:?}"),
        }
    }
}

/// Two caches that do not fit together are their owner's error, as before.
#[test]
fn caches_do_not_wait_for_each_other() {
    let model = with_blocks(5);
    let (mut first, mut second) = (model.new_cache(96).unwrap(), model.new_cache(96).unwrap());
    model.forward(&mut [Input::after(&mut first, &ids(0, 90))]).unwrap();
    let error = model.forward(&mut [Input::after(&mut second, &ids(0, 90))]).unwrap_err();
    assert!(matches!(error, Error::Service(ServiceError::KvPoolFull { .. })), "{error}");
    assert_eq!((second.length(), second.bytes()), (0, 0));
}

/// Scores, two batches and a served model on one model, whose memory is for one of them at a time.
#[test]
fn all_at_once_on_a_tight_budget_end_with_the_right_bits() {
    watch(|| {
        let full = bundled(&device());
        let bytes = 5 * full.model.kv_pool().block_bytes();
        let expected = roomy();
        let model = full.model.with_kv_cache_bytes(bytes);
        let pretrained = Arc::new(Pretrained { model, ..full });
        let inference = InferenceBuilder::new()
            .with_model(Arc::clone(&pretrained))
            .with_stream_capacity(1000)
            .build(streaming_handler)
            .unwrap();
        let model = &pretrained.model;
        let mut batches = [0, 1].map(|_| Batch::new(model));
        let mut found = [Finished::new(), Finished::new()];
        let text = ids(3, 140);
        let score = generate::score(&expected, &text, 0).unwrap();
        let mut served = Vec::new();
        for round in 0..4 {
            let request = GenerateRequest {
                prompt: Prompt::Ids(ids(round, 66)),
                ..GenerateRequest::new("").with_max_tokens(80).with_ignore_eos(true)
            };
            let request = request.with_seed(round as u64);
            served.push((round, inference.infer(request).spawn()));
            let mut joined = Vec::new();
            for (i, batch) in batches.iter_mut().enumerate() {
                let (prompt, options) = (ids(10 * i + round, 50), options(70, round as u64));
                joined.push((batch.join(&prompt, &options).unwrap(), prompt, options));
            }
            while batches.iter().any(|batch| !batch.is_empty()) {
                for (batch, found) in zip(&mut batches, &mut found) {
                    for _ in 0..9 {
                        step(batch, found);
                    }
                }
                assert_eq!(generate::score(model, &text, 0).unwrap(), score);
            }
            for (found, (id, prompt, options)) in zip(&found, &joined) {
                let expected = alone(&expected, prompt, options);
                assert_same(&found[id], &expected, &format!("round {round}"));
            }
        }
        for (round, job) in served {
            let found: Vec<u32> = job.stream.iter().map(|item| item.token_id).collect();
            assert_eq!(found, alone(&expected, &ids(round, 66), &options(80, round as u64)).ids);
            job.join().unwrap();
        }
    });
}
