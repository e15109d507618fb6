//! Which texts get draft tokens, and from whom.

use std::sync::Arc;

use super::{DraftLength, DraftModel, Draws, ForcedTokens, PassCosts, PromptLookup, Speculator};
use crate::error::Result;
use crate::model::Model;

/// Who proposes draft tokens.
#[derive(Debug, Clone)]
pub enum DraftSource {
    Lookup,
    Model(Arc<Model>),
}

/// How a model speculates: each of its texts gets a [`Speculator`] of this kind.
#[derive(Debug, Clone)]
pub struct Speculation {
    source: DraftSource,
    /// The most draft tokens of a step.
    most: usize,
    /// The costs of passes, and of a draft token, in seconds, where only what pays is proposed.
    costs: Option<(Arc<PassCosts>, f64)>,
}

impl Speculation {
    /// Up to `most` draft tokens in each step of a text, fewer where fewer were accepted.
    pub fn new(source: DraftSource, most: usize) -> Self {
        Self { source, most, costs: None }
    }

    /// As [`new`](Self::new), and only where that is faster: measures passes of `target` and of the
    /// draft model.
    ///
    /// # Errors
    /// Those of the passes.
    pub fn auto(source: DraftSource, most: usize, target: &Model) -> Result<Self> {
        let costs = Arc::new(PassCosts::measure(target)?);
        let draft = match &source {
            DraftSource::Lookup => 0.0,
            DraftSource::Model(model) => PassCosts::measure(model)?.of(1),
        };
        Ok(Self { source, most, costs: Some((costs, draft)) })
    }

    /// The same, with lookups in place of the draft model.
    pub(crate) fn without_model(&self) -> Self {
        let costs = self.costs.as_ref().map(|(costs, draft)| match self.source {
            DraftSource::Lookup => (costs.clone(), *draft),
            DraftSource::Model(_) => (costs.clone(), 0.0),
        });
        Self { source: DraftSource::Lookup, most: self.most, costs }
    }

    /// For one more text of `target`.
    ///
    /// # Errors
    /// A draft model with another vocabulary.
    pub fn start(&self, target: &Model) -> Result<Speculator> {
        let length = match &self.costs {
            None => DraftLength::adaptive(self.most),
            Some((costs, draft)) => DraftLength::best(self.most, costs.clone(), *draft),
        };
        Ok(match &self.source {
            DraftSource::Lookup => {
                Speculator::new(ForcedTokens::or(PromptLookup::default()), length)
            }
            DraftSource::Model(model) => {
                let draft = DraftModel::new(model.clone(), target, Draws::default())?;
                Speculator::new(ForcedTokens::or(draft), length)
            }
        })
    }
}
