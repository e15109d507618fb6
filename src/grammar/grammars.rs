//! The latest grammars of a model.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::Grammar;
use super::guidance::Guidance;
use crate::constrained::{Constraint, Vocabulary};
use crate::error::Result;

/// The grammars of one model that were compiled, the latest of them.
#[derive(Debug, Default)]
pub struct Grammars {
    vocabulary: OnceLock<Arc<Vocabulary>>,
    guidance: OnceLock<Arc<Guidance>>,
    recent: Mutex<Vec<(Grammar, Constraint)>>,
}

/// How many grammars are kept.
const RECENT: usize = 32;

/// The most masks of one of them. A mask is a bit for each token, so with 150,000 tokens these are 19 MB.
const MASKS: usize = 1024;

impl Grammars {
    /// Compiles a grammar, unless it is one of the latest. `vocabulary` is called once.
    ///
    /// # Errors
    /// As [`Grammar::compile`].
    pub fn compile(
        &self,
        grammar: &Grammar,
        vocabulary: impl FnOnce() -> Vocabulary,
    ) -> Result<Constraint> {
        if let Some(found) = self.recent(grammar) {
            return Ok(found);
        }
        // Not under the lock: others need not wait for it.
        let vocabulary = self.vocabulary(vocabulary);
        let constraint =
            grammar.compile_by(vocabulary.clone(), || self.guidance(vocabulary.clone()))?;
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.truncate(RECENT - 1);
        recent.insert(0, (grammar.clone(), constraint.clone()));
        Ok(constraint)
    }

    /// The vocabulary that they are compiled for. `make` is called once.
    pub fn vocabulary(&self, make: impl FnOnce() -> Vocabulary) -> Arc<Vocabulary> {
        self.vocabulary.get_or_init(|| Arc::new(make())).clone()
    }

    fn guidance(&self, vocabulary: Arc<Vocabulary>) -> Result<Arc<Guidance>> {
        if let Some(guidance) = self.guidance.get() {
            return Ok(guidance.clone());
        }
        // Two threads may make it, and one of the two is kept.
        let guidance = Arc::new(Guidance::new(vocabulary)?);
        Ok(self.guidance.get_or_init(|| guidance).clone())
    }

    fn recent(&self, grammar: &Grammar) -> Option<Constraint> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        // One that counts has a state for each number: its masks pile up, and are forgotten. Texts that have
        // begun keep theirs.
        for (_, constraint) in recent.iter_mut().filter(|(_, of)| of.seen() > MASKS) {
            *constraint = constraint.fresh();
        }
        let index = recent.iter().position(|(known, _)| known == grammar)?;
        recent[..=index].rotate_right(1);
        recent.first().map(|(_, constraint)| constraint.clone())
    }
}
