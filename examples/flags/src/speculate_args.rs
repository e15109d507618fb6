//! The flags of speculative decoding.

use std::sync::Arc;

use clap::{Args, ValueEnum};
use slowburn::pretrained::Pretrained;
use slowburn::speculation::{DraftSource, Speculation};

use crate::{Error, ModelArgs, ModelSource, Result, whole};

/// The flags of speculative decoding: whether a text gets draft tokens, and from whom.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Speculation")]
pub struct SpeculateArgs {
    /// Who guesses the next tokens, which the model then checks in one pass. On the CPU the choice
    /// changes no bit of the answer
    #[arg(long, value_enum, default_value_t = SpeculateChoice::Off, value_name = "WHO")]
    pub speculate: SpeculateChoice,

    /// The draft model, with the vocabulary of the model: as --model [default: the small one inside
    /// this program, which is for ember]
    #[arg(long, value_name = "MODEL")]
    pub draft: Option<ModelSource>,

    /// The most draft tokens of a sequence in a step
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = whole::<u64>(1..=64))]
    pub draft_tokens: u64,
}

/// Who guesses, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SpeculateChoice {
    /// Nobody
    Off,
    /// The text itself: what followed the last time
    Lookup,
    /// The draft model
    Draft,
    /// The draft model that --draft names, without one the text itself; and only while that is faster
    Auto,
}

impl SpeculateArgs {
    /// How `target` speculates, which the flags in `model` have loaded. A draft model gets a part of its
    /// memory for keys and values.
    ///
    /// # Errors
    /// A draft model that nobody asks; those of [`ModelArgs::load_draft`].
    pub fn speculation(
        &self,
        model: &ModelArgs,
        target: Pretrained,
    ) -> Result<(Pretrained, Option<Speculation>)> {
        let (target, source) = match (self.speculate, &self.draft) {
            (SpeculateChoice::Off | SpeculateChoice::Lookup, Some(_)) => {
                return Err(Error::UnusedDraft);
            }
            (SpeculateChoice::Off, None) => return Ok((target, None)),
            (SpeculateChoice::Lookup | SpeculateChoice::Auto, None) => {
                (target, DraftSource::Lookup)
            }
            (_, draft) => {
                let (target, draft) = model.load_draft(draft.as_ref(), target)?;
                (target, DraftSource::Model(Arc::new(draft)))
            }
        };
        let most = usize::try_from(self.draft_tokens).unwrap_or(usize::MAX);
        let speculation = match self.speculate {
            SpeculateChoice::Auto => Speculation::auto(source, most, &target.model)?,
            _ => Speculation::new(source, most),
        };
        Ok((target, Some(speculation)))
    }
}
