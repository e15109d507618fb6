//! The batched loop: several prompts at once, each with the same tokens as alone.

use std::collections::HashMap;
use std::iter::zip;
use std::ops::ControlFlow;

use super::{Batch, Event, Generation, Options};
use crate::error::{Error, Result};
use crate::model::Model;

/// Generates from every prompt, with the options at the same index, in one running batch.
/// `on_token` receives the index of the prompt and the token id; a break stops only that sequence,
/// and at its last token has no effect. A sequence that ends leaves the batch and costs no more.
///
/// # Errors
/// A different number of options than prompts; a prompt that [`Model::check_prompt`] rejects,
/// parameters out of range, unusable logits: the first error of any sequence ends all.
// ANCHOR: batched
pub fn batched(
    model: &Model,
    prompts: &[Vec<u32>],
    options: &[Options],
    on_token: &mut dyn FnMut(usize, u32) -> ControlFlow<()>,
) -> Result<Vec<Generation>> {
    check_as_many(prompts, options)?;
    let mut batch = Batch::new(model);
    let mut index_of = HashMap::new();
    for (index, (prompt, options)) in zip(prompts, options).enumerate() {
        index_of.insert(batch.join(prompt, options)?, index);
    }
    let mut generations: Vec<Option<Generation>> = vec![None; prompts.len()];
    while !batch.is_empty() {
        for (sequence, event) in batch.step() {
            let index = index_of[&sequence];
            match event {
                Event::Token(token) => {
                    if on_token(index, token.token_id).is_break() {
                        generations[index] = batch.leave(sequence);
                    }
                }
                Event::Finished(generation) => generations[index] = Some(generation),
                Event::Failed(error) => return Err(error),
            }
        }
    }
    Ok(generations.into_iter().flatten().collect())
}
// ANCHOR_END: batched

fn check_as_many(prompts: &[Vec<u32>], options: &[Options]) -> Result<()> {
    if prompts.len() == options.len() {
        Ok(())
    } else {
        Err(Error::Parameter {
            name: "options",
            value: format!("{} options", options.len()),
            allowed: "as many as there are prompts",
        })
    }
}
