//! Constrained texts, and what all of them have in common.

use slowburn::constrained::Constraint;
use slowburn::engine::EngineConfig;
use slowburn::generate::{self, Batch, Generation, Options};
use slowburn::grammar::Grammar;
use slowburn::model::Model;
use slowburn::sampling::SamplingParams;
use slowburn::speculation::{
    DraftLength, DraftSource, ForcedTokens, PromptLookup, Speculation, Speculator,
};

use super::texts::{alone, assert_same, finish};
use super::{bundled, device, go_on};

/// A text inside of a grammar, with all that is compared.
pub fn options(constraint: &Constraint, max_tokens: usize, temperature: f32, seed: u64) -> Options {
    Options {
        max_tokens,
        sampling: SamplingParams { temperature, seed, ..SamplingParams::default() },
        constraint: Some(constraint.clone()),
        logprobs: Some(3),
        hash_logits: true,
        ..Options::default()
    }
}

/// Texts of up to `max_tokens` tokens inside of each grammar, the most likely one and one that is drawn,
/// have the bits that they have alone: without a cache, speculated, in a batch, and in one that preempts,
/// with memory for `blocks` blocks.
pub fn assert_same_bits(grammars: &[Grammar], max_tokens: usize, blocks: usize) {
    let pretrained = bundled(&device());
    let model = &pretrained.model;
    let prompt = pretrained.prompt_ids("Once there was a fox, and").unwrap();
    let request = |(seed, (grammar, temperature)): (u64, (&Grammar, f32))| {
        let constraint = pretrained.constraint(grammar).unwrap();
        (prompt.clone(), options(&constraint, max_tokens, temperature, seed))
    };
    let texts = [0.0, 0.9].into_iter().flat_map(|t| grammars.iter().map(move |g| (g, t)));
    let requests: Vec<(Vec<u32>, Options)> = (0..).zip(texts).map(request).collect();
    let expected: Vec<_> = requests.iter().map(|(prompt, o)| alone(model, prompt, o)).collect();

    let mut forced = 0;
    for ((prompt, options), expected) in requests.iter().zip(&expected) {
        let naive = generate::naive(model, prompt, options, &mut go_on).unwrap();
        assert_same(&naive, expected, "naive");
        let draft = ForcedTokens::or(PromptLookup::default());
        let mut by = Speculator::new(draft, DraftLength::fixed(6));
        let found = generate::speculated(model, &mut by, prompt, options, &mut go_on).unwrap();
        assert_same(&found, expected, "speculated");
        forced += found.accepted;
    }
    assert!(forced > 40, "{forced}");

    let block_bytes = model.kv_pool().block_bytes();
    let tight = bundled(&device()).model.with_kv_cache_bytes(blocks * block_bytes);
    let mut preemptions = 0;
    for speculation in [None, Some(Speculation::new(DraftSource::Lookup, 4))] {
        for model in [model, &tight] {
            let found = together(model, speculation.clone(), &requests);
            for (found, expected) in found.iter().zip(&expected) {
                assert_same(found, expected, "in a batch");
                preemptions += found.preemptions;
            }
        }
    }
    assert!(preemptions > 0);
}

/// What these requests get in one batch, without a prefix cache.
fn together(
    model: &Model,
    speculation: Option<Speculation>,
    requests: &[(Vec<u32>, Options)],
) -> Vec<Generation> {
    let config = EngineConfig { prefix_cache: false, ..EngineConfig::default() };
    let mut batch = Batch::with_config(model, config);
    batch.set_speculation(speculation);
    for (prompt, options) in requests {
        batch.join(prompt, options).unwrap();
    }
    finish(&mut batch).into_values().collect()
}
