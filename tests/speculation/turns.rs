//! Draft tokens and draft models come last: what is certain has the blocks and the steps first.

use std::sync::atomic::{AtomicUsize, Ordering};

use slowburn::engine::Decision;
use slowburn::kernels::BLOCK;

use super::*;

/// As many blocks as it needs without draft tokens, and not one more.
#[test]
fn draft_tokens_preempt_nobody_and_take_no_block_of_the_prefix_cache() {
    let model = bundled(&device()).model;
    let block_bytes = model.kv_pool().block_bytes();
    // Four blocks each, and one of the prefix cache.
    let model = model.with_kv_cache_bytes(9 * block_bytes);
    let requests: Vec<_> = (0..2).map(|i| (vec![i; 60], options(60, 1.0, 7))).collect();
    let expected: Vec<_> = requests.iter().map(|(p, o)| alone(&model, p, o)).collect();
    let mut batch = Batch::new(&model);
    batch
        .run(&[vec![9; 40]], &[options(1, 1.0, 0)], &mut |_, _| ControlFlow::Continue(()))
        .unwrap();
    assert_eq!(batch.scheduler().blocks().evictable(), 1);
    for (index, (prompt, options)) in requests.iter().enumerate() {
        let id = batch.join(prompt, options).unwrap();
        let oracle = Oracle { ids: expected[index].ids.clone(), wrong: 6, vocab: 1024 };
        batch.speculate(id, Speculator::new(oracle, DraftLength::fixed(40)));
    }
    for (found, expected) in zip(finish(&mut batch).values(), &expected) {
        assert_same(found, expected, "with few blocks");
        assert_eq!(found.preemptions, 0);
        assert!(found.accepted > 30, "{}", found.accepted);
    }
    assert_eq!(batch.scheduler().blocks().prefix_stats().evictions, 0);
}

/// Proposes nothing, and counts how often it is asked.
struct Counting(Arc<AtomicUsize>);

impl Draft for Counting {
    fn propose(&mut self, _: &Text<'_>, _: usize) -> Result<Vec<u32>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Vec::new())
    }
}

#[test]
fn nobody_guesses_for_a_step_that_reads_a_prompt_or_has_no_room() {
    let model = bundled(&device()).model;
    for (token_budget, max_running) in [(16, 2), (1, 2), (16, 1)] {
        let config = EngineConfig { token_budget, max_running, ..EngineConfig::default() };
        let mut batch = Batch::with_config(&model, config);
        let asked = Arc::new(AtomicUsize::new(0));
        let id = batch.join(&[5; 4], &options(30, 0.0, 0)).unwrap();
        batch.speculate(id, speculator(Counting(asked.clone())));
        let mut with_prompt = 0;
        for step in 0..20 {
            if step == 8 {
                batch.join(&[7; 60], &options(2, 0.0, 0)).unwrap();
            }
            let before = asked.swap(0, Ordering::Relaxed);
            assert!(before <= 1);
            batch.step();
            let reads_prompt = batch
                .plan()
                .decisions
                .iter()
                .any(|decision| matches!(decision, Decision::Prefill { .. }));
            with_prompt += usize::from(reads_prompt);
            let is_asked = asked.load(Ordering::Relaxed) > 0;
            let decodes = step > if token_budget == 1 { 3 } else { 0 };
            let expected = decodes && !reads_prompt && token_budget > 1;
            assert_eq!(is_asked, expected, "step {step}, {token_budget}, {max_running}");
        }
        // One in a queue that has no slot keeps nobody from guessing.
        assert_eq!(with_prompt > 2, max_running == 2);
    }
}

/// Of all texts of a batch together.
#[test]
fn a_draft_model_reads_no_more_of_the_texts_in_a_step_than_the_budget() {
    let (model, small) = (bundled(&device()).model, small());
    let prompts = [vec![7; 300], vec![3; 200], vec![4; 9]];
    let options = options(40, 0.7, 3);
    let config = EngineConfig { token_budget: 64, ..EngineConfig::default() };
    let mut batch = Batch::with_config(&model, config);
    batch.set_speculation(Some(Speculation::new(DraftSource::Model(small.clone()), 4)));
    let ids = prompts.each_ref().map(|prompt| batch.join(prompt, &options).unwrap());
    let (mut read, mut found) = (0, Finished::new());
    let positions = |bytes: usize| bytes / small.kv_pool().block_bytes() * BLOCK;
    while !batch.is_empty() {
        step(&mut batch, &mut found);
        // The last block of each is not full, and behind what is read it writes ahead.
        let now = positions(small.kv_pool().bytes());
        assert!(now <= read + 64 + 2 * prompts.len() * BLOCK, "{now} after {read}");
        read = read.max(now);
    }
    assert!(read > 500);
    for (id, prompt) in zip(ids, &prompts) {
        assert_same(&found[&id], &alone(&model, prompt, &options), "with a draft model");
    }
    assert!(found.values().any(|found| found.accepted > 0));
}

/// What it would never have read would be missing for the others of a step.
#[test]
fn a_draft_model_reads_nothing_of_a_text_that_fills_its_context() {
    let model = Arc::new(load("llama-gqa", &device()).model);
    let mut draft = DraftModel::new(model.clone(), &model, Draws::Coupled).unwrap();
    let sampler = Sampler::new(&SamplingParams::default()).unwrap();
    let tokens = vec![5; model.config().context_length];
    // One token less leaves room for one.
    let full = tokens.len();
    for (length, unread, proposed) in [(full, 0, 0), (full - 1, full - 2, 1)] {
        let text = Text { tokens: &tokens[..length], prompt: 1, sampler: &sampler };
        assert_eq!(draft.unread(&text), unread);
        assert_eq!(draft.propose(&text, 4).unwrap().len(), proposed);
    }
}

/// Where memory is not handed out by blocks, a cache is as long as the longest text.
#[test]
fn a_draft_model_takes_memory_for_those_alone_that_decode() {
    for device in devices() {
        let model = load("llama-gqa", &device).model;
        let small = Arc::new(load("llama-gqa", &device).model);
        let one = small.new_cache(usize::MAX).unwrap();
        let most = one.bytes().max(small.kv_pool().block_bytes());
        drop(one);
        let config = EngineConfig { max_running: 1, ..EngineConfig::default() };
        let mut batch = Batch::with_config(&model, config);
        batch.set_speculation(Some(Speculation::new(DraftSource::Model(small.clone()), 4)));
        for first in 0..4 {
            batch.join(&[first, 2, 3], &options(12, 0.0, 0)).unwrap();
        }
        assert_eq!(small.kv_pool().bytes(), 0, "{}", device.name);
        while !batch.is_empty() {
            batch.step();
            assert!(small.kv_pool().bytes() <= most, "{}", device.name);
        }
        assert_eq!(small.kv_pool().bytes(), 0, "{}", device.name);
    }
}
