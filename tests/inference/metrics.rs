//! What an inference tells of itself.

use slowburn::engine::EngineStats;
use slowburn::kv::{BlockCounts, PrefixStats};

use super::*;

/// A prompt of 70 tokens: two full blocks of 32 and a part of a third.
fn prompt() -> GenerateRequest {
    let ids = (0..70).map(|i| i % 50).collect::<Vec<u32>>();
    GenerateRequest::new(ids).with_max_tokens(5).with_ignore_eos(true)
}

fn stats(steps: u64, prefill_tokens: u64, decode_tokens: u64) -> EngineStats {
    EngineStats {
        steps,
        prefill_tokens,
        decode_tokens,
        ..EngineStats::default()
    }
}

#[test]
fn the_load_counts_blocks_tokens_steps_and_hits() {
    watch(|| {
        let inference = InferenceBuilder::new()
            .with_model(model())
            .with_stream_capacity(2)
            .build(streaming_handler)
            .unwrap();
        let before = inference.load().unwrap();
        let total = model().model.kv_pool().max_blocks();
        let blocks =
            |used, cached| BlockCounts { used, cached, free: total - used - cached, total };
        assert_eq!(before.kv_blocks, blocks(0, 0));
        assert_eq!(before.kv_block_bytes, model().model.kv_pool().block_bytes());
        assert_eq!(before.engine, stats(0, 0, 0));

        // The prefill gives the first of five tokens. The last one is never read.
        drained(inference.infer(prompt()).spawn());
        let first = inference.load().unwrap();
        assert_eq!(first.engine, stats(5, 70, 4));
        assert_eq!(first.prefix_cache, PrefixStats { lookups: 1, hits: 0, evictions: 0 });
        assert_eq!(first.kv_blocks, blocks(0, 2), "the full blocks stay");

        drained(inference.infer(prompt()).spawn());
        let second = inference.load().unwrap();
        assert_eq!(second.engine, stats(10, 76, 8));
        assert_eq!(second.prefix_cache, PrefixStats { lookups: 3, hits: 2, evictions: 0 });

        // One that nobody reads keeps its blocks: two that are shared, and one of its own.
        let job = inference.infer(prompt().with_max_tokens(100)).spawn();
        let paused = loop {
            let load = inference.load().unwrap();
            if load.paused == 1 {
                break load;
            }
        };
        assert_eq!(paused.kv_blocks, blocks(3, 0));
        assert_eq!(paused.kv_cache_bytes, 3 * paused.kv_block_bytes);
        drop(job);
        assert_idle(&inference);
    });
}

#[test]
fn a_token_budget_splits_prompts_and_changes_no_token() {
    watch(|| {
        let expected = alone(&prompt()).ids;
        for (budget, prefill_steps) in [(1, 70), (7, 10), (70, 1), (usize::MAX, 1)] {
            let inference = InferenceBuilder::new()
                .with_model(model())
                .with_token_budget(budget)
                .build(streaming_handler)
                .unwrap();
            let (outputs, _) = drained(inference.infer(prompt()).spawn());
            assert_eq!(ids(&outputs), expected);
            let load = inference.load().unwrap();
            assert_eq!(load.engine, stats(prefill_steps + 4, 70, 4), "a budget of {budget}");
        }
    });
}

#[test]
fn without_a_prefix_cache_nothing_is_kept_or_found() {
    watch(|| {
        let inference = InferenceBuilder::new()
            .with_model(model())
            .with_prefix_cache(false)
            .build(streaming_handler)
            .unwrap();
        for n in 1..=2 {
            let (outputs, completion) = drained(inference.infer(prompt()).spawn());
            assert_eq!(ids(&outputs), alone(&prompt()).ids);
            assert_eq!(completion.usage.cached_tokens, 0);
            let load = inference.load().unwrap();
            assert_eq!(load.engine.prefill_tokens, 70 * n);
            assert_eq!(load.prefix_cache, PrefixStats::default());
            assert_eq!(load.kv_blocks.free, load.kv_blocks.total);
        }
    });
}
