//! Text as it is generated, all in the calling thread.

use std::ops::ControlFlow;

use super::{Chosen, Generation, Options, cached};
use crate::error::Result;
use crate::model::Model;
use crate::pretrained::Pretrained;
use crate::tokenizer::IncrementalDecoder;

impl Pretrained {
    /// The text that the model writes after a prompt, in one piece.
    ///
    /// ```
    /// # #[cfg(feature = "burn")] {
    /// use slowburn::device::{self, DeviceChoice, Precision};
    /// use slowburn::{Options, Pretrained};
    ///
    /// let device = device::open(DeviceChoice::Auto)?;
    /// let ember = Pretrained::bundled(&device, Precision::F32)?;
    /// let mut options = Options { max_tokens: 2, ..Options::default() };
    /// options.sampling.temperature = 0.0;
    /// assert_eq!(ember.generate("Once upon a time", &options)?, ", there");
    /// # }
    /// # Ok::<(), slowburn::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`stream`](Self::stream).
    pub fn generate(&self, prompt: &str, options: &Options) -> Result<String> {
        let mut text = String::new();
        self.stream(prompt, options, |piece| {
            text.push_str(piece);
            ControlFlow::Continue(())
        })?;
        Ok(text)
    }

    /// Like [`generate`](Self::generate), but you see the text as it is written: each token's piece goes to
    /// `on_text`, which ends the generation when it breaks. Pieces are whole characters, so a token that ends
    /// within one gives an empty piece. For stop strings, deadlines and several callers at once, see `inference`.
    ///
    /// # Errors
    /// A prompt that the model rejects, parameters out of range, unusable logits, ids that cannot
    /// be decoded.
    pub fn stream(
        &self,
        prompt: &str,
        options: &Options,
        on_text: impl FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Generation> {
        stream_text(cached, self, &self.prompt_ids(prompt)?, options, on_text)
    }
}

/// Runs `generate` and passes its text to `on_text` in pieces of whole UTF-8, as they are decoded.
///
/// # Errors
/// Those of the loop, and of the tokenizer.
pub fn stream_text(
    generate: impl FnOnce(
        &Model,
        &[u32],
        &Options,
        &mut dyn FnMut(&Chosen<'_>) -> ControlFlow<()>,
    ) -> Result<Generation>,
    pretrained: &Pretrained,
    prompt: &[u32],
    options: &Options,
    mut on_text: impl FnMut(&str) -> ControlFlow<()>,
) -> Result<Generation> {
    let mut decoder = IncrementalDecoder::after(&pretrained.tokenizer, prompt);
    let mut failure = None;
    let generation = generate(&pretrained.model, prompt, options, &mut |chosen| match decoder
        .push(chosen.token.token_id)
    {
        Ok(text) => on_text(&text),
        Err(error) => {
            failure = Some(error);
            ControlFlow::Break(())
        }
    })?;
    if let Some(error) = failure {
        return Err(error);
    }
    let rest = decoder.finish()?;
    if !rest.is_empty() {
        // The generation has ended: a break has no effect.
        let _ = on_text(&rest);
    }
    Ok(generation)
}
