//! The naive loop: correct, and slow.

use std::ops::ControlFlow;

use super::run::Run;
use super::{Generation, Options, Token};
use crate::error::Result;
use crate::model::Model;

/// Generates by running the model over everything so far, at every step.
///
/// # Errors
/// A prompt that the model cannot start from, parameters out of range, unusable logits.
// ANCHOR: naive
pub fn naive(
    model: &Model,
    prompt: &[u32],
    options: &Options,
    on_token: &mut dyn FnMut(&Token<'_>) -> ControlFlow<()>,
) -> Result<Generation> {
    let mut run = Run::new(model, prompt, options)?;
    let mut ids = prompt.to_vec();
    while !run.is_finished() {
        let logits = model.forward(&ids, None)?;
        let token = run.next_token(&logits, on_token)?;
        ids.push(token);
    }
    Ok(run.into_generation(0))
}
// ANCHOR_END: naive
