//! The naive loop: correct, and slow.

use std::ops::ControlFlow;

use super::sequence_state::SequenceState;
use super::{Chosen, Generation, Options};
use crate::error::Result;
use crate::model::{Input, Model};

/// Generates by running the model over the whole sequence at every step.
///
/// # Errors
/// A prompt that [`Model::check_prompt`] rejects, parameters out of range, unusable logits.
// ANCHOR: naive
pub fn naive(
    model: &Model,
    prompt: &[u32],
    options: &Options,
    on_token: &mut dyn FnMut(&Chosen<'_>) -> ControlFlow<()>,
) -> Result<Generation> {
    let mut state = SequenceState::new(model, prompt, options)?;
    let mut ids = prompt.to_vec();
    while !state.is_finished() {
        let input = Input::whole(&ids).with_adapter(options.adapter.as_ref());
        let logits = model.forward(&mut [input])?;
        let token = state.next_token(&logits[0], on_token)?;
        ids.push(token);
    }
    Ok(state.into_generation(0))
}
// ANCHOR_END: naive
