//! The cached loop with draft tokens: the same text in fewer passes.

use std::iter::zip;
use std::ops::ControlFlow;

use super::cached::prefill;
use super::sequence_state::SequenceState;
use super::{Chosen, Generation, Options};
use crate::error::Result;
use crate::model::{Input, Logits, Model};
use crate::speculation::Speculator;

/// Generates as [`cached`](super::cached) does, or with the same distribution where the speculator is
/// set to [`Acceptance::Residual`](crate::speculation::Acceptance). From the second pass on, the model
/// also reads draft tokens behind the last token, and gets as many tokens from a pass as were guessed
/// right, and one.
///
/// # Errors
/// As [`cached`](super::cached), and a draft token outside the vocabulary.
// ANCHOR: speculated
pub fn speculated(
    model: &Model,
    speculator: &mut Speculator,
    prompt: &[u32],
    options: &Options,
    on_token: &mut dyn FnMut(&Chosen<'_>) -> ControlFlow<()>,
) -> Result<Generation> {
    let mut state = SequenceState::new(model, prompt, options)?;
    let cache = model.new_cache(prompt.len() + state.tokens_left())?;
    let mut cache = cache.with_adapter(options.adapter.as_ref());
    let mut new = prefill(model, prompt, options.chunk.max(1), &mut cache)?;
    let mut draft = Vec::new();
    while !state.is_finished() {
        let wanted = if draft.is_empty() {
            Logits::Last
        } else {
            Logits::All
        };
        new.extend(&draft);
        let rows = model.forward(&mut [Input::after(&mut cache, &new).with_logits(wanted)])?;
        let sampled = state.check(&rows, &draft, speculator.residual(), on_token)?;
        // Keys and values of draft tokens that were rejected.
        cache.truncate(cache.length() - (rows.len() - sampled.len()));
        let accepted = zip(&sampled, &draft).filter(|(token, guess)| token == guess).count();
        speculator.checked(draft.len(), accepted);
        if state.is_finished() {
            break;
        }
        // The last token of a text is sampled from the row before it, and never read. A draft that fails
        // costs the text nothing but speed.
        let most = state.tokens_left().saturating_sub(1);
        let most = model.most_drafted().map_or(most, |limit| most.min(limit));
        draft = speculator.propose(&state.text(), most, 1).unwrap_or_default();
        new = sampled[sampled.len() - 1..].to_vec();
    }
    Ok(state.into_generation(cache.bytes()))
}
// ANCHOR_END: speculated
