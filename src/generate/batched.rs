//! The batched loop: several prompts at once, and each gets the tokens that it would get alone.

use std::collections::BTreeMap;
use std::iter::zip;
use std::ops::ControlFlow;

use super::{Batch, Event, Generation, Options};
use crate::engine::SequenceId;
use crate::error::{RequestError, Result};
use crate::model::Model;

/// Generates from every prompt, with the options at the same index, in one running batch: see
/// [`Batch::run`].
///
/// # Errors
/// As [`Batch::run`].
pub fn batched(
    model: &Model,
    prompts: &[Vec<u32>],
    options: &[Options],
    on_token: &mut dyn FnMut(usize, u32) -> ControlFlow<()>,
) -> Result<Vec<Generation>> {
    Batch::new(model).run(prompts, options, on_token)
}

impl Batch<'_> {
    /// Generates from every prompt, with the options at the same index. `on_token` receives the
    /// index of the prompt and the token id; a break stops only that sequence, and at its last
    /// token has no effect. A sequence that ends leaves the batch and costs no more.
    ///
    /// Sequences that were in the batch before take part in the steps, and nobody gets their events: not
    /// even the [`Generation`] of one that ends meanwhile.
    ///
    /// # Errors
    /// A different number of options than prompts; a prompt that [`Model::check_prompt`] rejects,
    /// parameters out of range, more tokens than the budget of the KV caches could ever hold,
    /// unusable logits: the first error of any sequence ends all, and they leave the batch.
    pub fn run(
        &mut self,
        prompts: &[Vec<u32>],
        options: &[Options],
        on_token: &mut dyn FnMut(usize, u32) -> ControlFlow<()>,
    ) -> Result<Vec<Generation>> {
        check_as_many(prompts, options)?;
        let mut index_of = BTreeMap::new();
        let generations = self.run_all(prompts, options, &mut index_of, on_token);
        if generations.is_err() {
            for sequence in index_of.into_keys() {
                self.leave(sequence);
            }
        }
        generations
    }

    /// As [`run`](Self::run), and leaves in the batch what has not ended before an error. `index_of` gets
    /// the indices of the sequences that have joined.
    fn run_all(
        &mut self,
        prompts: &[Vec<u32>],
        options: &[Options],
        index_of: &mut BTreeMap<SequenceId, usize>,
        on_token: &mut dyn FnMut(usize, u32) -> ControlFlow<()>,
    ) -> Result<Vec<Generation>> {
        // ANCHOR: run
        for (index, (prompt, options)) in zip(prompts, options).enumerate() {
            index_of.insert(self.join(prompt, options)?, index);
        }
        let mut generations: Vec<Option<Generation>> = vec![None; prompts.len()];
        while generations.iter().any(Option::is_none) {
            let events = self.step_until(&mut |sequence, token| match index_of.get(&sequence) {
                Some(&index) => on_token(index, token.token_id),
                None => ControlFlow::Continue(()), // it was in the batch before
            });
            for (sequence, event) in events {
                let Some(&index) = index_of.get(&sequence) else {
                    continue;
                };
                match event {
                    Event::Token(_) => {}
                    Event::Finished(generation) => generations[index] = Some(generation),
                    Event::Failed(error) => return Err(error),
                }
            }
        }
        Ok(generations.into_iter().flatten().collect())
        // ANCHOR_END: run
    }
}

fn check_as_many(prompts: &[Vec<u32>], options: &[Options]) -> Result<()> {
    if prompts.len() == options.len() {
        Ok(())
    } else {
        Err(RequestError::Parameter {
            name: "options",
            value: format!("{} options", options.len()),
            allowed: "as many as there are prompts",
        }
        .into())
    }
}
