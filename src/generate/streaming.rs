//! Streaming with a callback for each token, all in the calling thread.

use std::ops::ControlFlow;

use super::text_buffer::TextBuffer;
use super::{FinishReason, Generation, Options, TokenOutput, cached};
use crate::error::Result;
use crate::pretrained::Pretrained;

impl Pretrained {
    /// Generates from a prompt and passes each token, with its text as whole UTF-8, to `on_token`
    /// until that breaks. All work is in the calling thread, so this runs in a browser too. For
    /// stop strings, deadlines and several callers at once, see `inference`.
    ///
    /// # Errors
    /// A prompt that the model rejects, parameters out of range, unusable logits, ids that cannot
    /// be decoded.
    // ANCHOR: generate_streaming
    pub fn generate_streaming(
        &self,
        prompt: &str,
        options: &Options,
        mut on_token: impl FnMut(TokenOutput) -> ControlFlow<()>,
    ) -> Result<Generation> {
        let prompt = self.prompt_ids(prompt)?;
        let mut text = TextBuffer::new(&self.tokenizer, &prompt, &[]);
        let mut failure = None;
        let generation = cached(&self.model, &prompt, options, &mut |chosen| match text
            .push(chosen.token.clone())
        {
            Ok(settled) => settled.into_iter().try_for_each(&mut on_token),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        })?;
        failure.map_or(Ok(()), Err)?;
        if generation.finish_reason != FinishReason::Stopped {
            let (rest, _) = text.finish()?;
            // The generation has ended: a break has no effect.
            let _ = rest.into_iter().try_for_each(on_token);
        }
        Ok(generation)
    }
    // ANCHOR_END: generate_streaming
}
