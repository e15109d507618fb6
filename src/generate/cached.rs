//! The cached loop: the same tokens, without doing anything twice.

use std::ops::ControlFlow;

use super::run::Run;
use super::{Generation, Options, Token};
use crate::error::Result;
use crate::model::Model;

/// Generates by running the model over what is new: first the whole prompt (prefill), then
/// one token a step (decode). The KV cache remembers the rest.
///
/// # Errors
/// A prompt that the model cannot start from, parameters out of range, a cache that is too
/// large for this machine, unusable logits.
// ANCHOR: cached
pub fn cached(
    model: &Model,
    prompt: &[u32],
    options: &Options,
    on_token: &mut dyn FnMut(&Token<'_>) -> ControlFlow<()>,
) -> Result<Generation> {
    let mut run = Run::new(model, prompt, options)?;
    let mut cache = model.new_cache(prompt.len() + run.room())?;
    let mut new = prompt.to_vec();
    while !run.is_finished() {
        let logits = model.forward(&new, Some(&mut cache))?;
        let token = run.next_token(&logits, on_token)?;
        new = vec![token];
    }
    Ok(run.into_generation(cache.bytes()))
}
// ANCHOR_END: cached
