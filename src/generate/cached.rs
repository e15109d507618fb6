//! The cached loop: the same tokens as the naive loop, with a KV cache.

use std::ops::ControlFlow;

use super::sequence_state::SequenceState;
use super::{Chosen, Generation, Options};
use crate::error::Result;
use crate::kv::KvCache;
use crate::model::{Input, Logits, Model};

/// Generates by running the model over new tokens only: first the whole prompt (prefill), then one
/// token per step (decode). The KV cache holds the earlier keys and values.
///
/// # Errors
/// A prompt that [`Model::check_prompt`] rejects, parameters out of range, a KV cache that does not
/// fit into memory, unusable logits.
// ANCHOR: cached
pub fn cached(
    model: &Model,
    prompt: &[u32],
    options: &Options,
    on_token: &mut dyn FnMut(&Chosen<'_>) -> ControlFlow<()>,
) -> Result<Generation> {
    let mut state = SequenceState::new(model, prompt, options)?;
    let cache = model.new_cache(prompt.len() + state.tokens_left())?;
    let mut cache = cache.with_adapter(options.adapter.as_ref());
    let mut new = prefill(model, prompt, options.chunk.max(1), &mut cache)?;
    while !state.is_finished() {
        let logits = model.forward(&mut [Input::after(&mut cache, &new)])?;
        let token = state.next_token(&logits[0], on_token)?;
        new = vec![token];
    }
    Ok(state.into_generation(cache.bytes()))
}
// ANCHOR_END: cached

// ANCHOR: prefill
/// Chunked prefill: runs the model over the prompt up to its last chunk, `chunk` tokens at a time,
/// so that the memory of activations does not grow with the prompt. Returns the last chunk.
pub(super) fn prefill(
    model: &Model,
    prompt: &[u32],
    chunk: usize,
    cache: &mut KvCache,
) -> Result<Vec<u32>> {
    let last = prompt.len().saturating_sub(1) / chunk * chunk;
    let (before, last) = prompt.split_at(last);
    for tokens in before.chunks(chunk) {
        model.forward(&mut [Input::after(cache, tokens).with_logits(Logits::None)])?;
    }
    Ok(last.to_vec())
}
// ANCHOR_END: prefill
