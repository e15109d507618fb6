//! The flags of speculative decoding.

use std::sync::Arc;

use clap::{Args, ValueEnum};
use slowburn::model::Model;
use slowburn::speculation::{DraftModel, DraftSource, Speculation};

use crate::{Error, ModelArgs, ModelSource, Result};

/// The flags of speculative decoding: whether a text gets draft tokens, and from whom.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Speculation")]
pub struct SpeculateArgs {
    /// Who guesses the next tokens, which the model then checks in one pass. On the CPU the choice
    /// changes no bit of the answer
    #[arg(long, value_enum, default_value_t = SpeculateChoice::Off, value_name = "WHO")]
    pub speculate: SpeculateChoice,

    /// The draft model, with the vocabulary of the model: as --model
    #[arg(long, value_name = "MODEL", required_if_eq("speculate", "draft"))]
    pub draft: Option<ModelSource>,

    /// The most draft tokens of a sequence in a step
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = draft_tokens())]
    pub draft_tokens: u64,
}

/// Who guesses, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SpeculateChoice {
    /// Nobody
    Off,
    /// The text itself: what followed the last time
    Lookup,
    /// The model that --draft names
    Draft,
    /// The draft model if there is one, otherwise the text itself; and only while that is faster
    Auto,
}

fn draft_tokens() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=64)
}

impl SpeculateArgs {
    /// How `target` speculates, which the flags in `model` have loaded.
    ///
    /// # Errors
    /// A draft model that nobody asks; one that cannot be loaded, or has another vocabulary.
    pub fn speculation(&self, model: &ModelArgs, target: &Model) -> Result<Option<Speculation>> {
        let source = match (self.speculate, &self.draft) {
            (SpeculateChoice::Off | SpeculateChoice::Lookup, Some(_)) => {
                return Err(Error::UnusedDraft);
            }
            (SpeculateChoice::Off, None) => return Ok(None),
            (_, None) => DraftSource::Lookup,
            (_, Some(draft)) => {
                let draft = ModelArgs { source: Some(draft.clone()), ..model.clone() };
                // On the threads of the model: only one of the two computes at a time.
                let draft = target.cpu().enter(|| draft.load_on_current_cpu())?;
                DraftModel::check(&draft, target)?;
                DraftSource::Model(Arc::new(draft))
            }
        };
        let most = usize::try_from(self.draft_tokens).unwrap_or(usize::MAX);
        Ok(Some(match self.speculate {
            SpeculateChoice::Auto => Speculation::auto(source, most, target)?,
            _ => Speculation::new(source, most),
        }))
    }
}
