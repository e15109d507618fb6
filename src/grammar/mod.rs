//! Grammars: which texts are allowed, and how they become a [`Constraint`].

mod grammars;
mod regex;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::constrained::{Automaton, Constraint, Vocabulary};
use crate::error::{RequestError, Result};
pub use grammars::Grammars;

/// Which texts are allowed: as a whole, from their first byte to their last. In JSON: an object with
/// one field, `{"regex": "[0-9]+"}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grammar {
    /// Those that a regular expression matches, in the syntax of the crate `regex`.
    Regex(String),
    /// These.
    Choice(Vec<String>),
}

impl Grammar {
    /// Compiles it for a vocabulary.
    ///
    /// # Errors
    /// A grammar that is wrong or too large, allows no text but the empty one, or none that tokens of
    /// the vocabulary can begin.
    pub fn compile(&self, vocabulary: Arc<Vocabulary>) -> Result<Constraint> {
        Constraint::new(self.automaton()?, vocabulary)
    }

    fn automaton(&self) -> Result<Automaton> {
        match self {
            Self::Regex(pattern) => Automaton::from_regex(pattern),
            Self::Choice(texts) if texts.is_empty() => Err(RequestError::GrammarEmpty.into()),
            Self::Choice(texts) => {
                let texts: Vec<_> = texts.iter().map(|text| regex::escaped(text)).collect();
                Automaton::from_regex(&texts.join("|"))
            }
        }
    }
}
