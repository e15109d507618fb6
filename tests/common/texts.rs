//! Texts alone and in a batch.

use std::collections::BTreeMap;

use slowburn::engine::SequenceId;
use slowburn::generate::{self, Batch, Event, Generation, Options};
use slowburn::model::Model;
use slowburn::sampling::SamplingParams;

use super::go_on;

/// So many of the most likely tokens, whichever they are.
pub fn greedy(max_tokens: usize) -> Options {
    Options {
        max_tokens,
        sampling: SamplingParams { temperature: 0.0, ..SamplingParams::default() },
        ignore_eos: true,
        ..Options::default()
    }
}

/// What a request gets alone.
pub fn alone(model: &Model, prompt: &[u32], options: &Options) -> Generation {
    generate::cached(model, prompt, options, &mut go_on).unwrap()
}

/// The sequences of a batch that have finished, in the order in which they joined.
pub type Finished = BTreeMap<SequenceId, Generation>;

/// A step of a batch in which nothing may fail.
#[track_caller]
pub fn step(batch: &mut Batch<'_>, finished: &mut Finished) {
    for (id, event) in batch.step() {
        match event {
            Event::Token(_) => {}
            Event::Finished(generation) => drop(finished.insert(id, generation)),
            Event::Failed(error) => panic!("{id}: {error}"),
        }
    }
}

/// Steps until all that is in a batch has finished.
#[track_caller]
pub fn finish(batch: &mut Batch<'_>) -> Finished {
    let mut finished = Finished::new();
    while !batch.is_empty() {
        step(batch, &mut finished);
    }
    finished
}

/// Fails where two generations differ in a token, in a bit of a logit, or in how they end.
#[track_caller]
pub fn assert_same(found: &Generation, expected: &Generation, what: &str) {
    assert_eq!(found.ids, expected.ids, "{what}");
    assert_eq!(found.logprobs, expected.logprobs, "{what}");
    assert_eq!(found.logits_hash, expected.logits_hash, "{what}");
    assert_eq!(found.finish_reason, expected.finish_reason, "{what}");
}
