//! Grammars: how you define the allowed texts, and how that becomes a [`Constraint`].
//!
//! A regular expression becomes an [`Automaton`] here. JSON schemas and Lark grammars need the feature
//! `schema`, and `llguidance` reads them.

mod grammars;
#[cfg(feature = "schema")]
mod guidance;
#[cfg(not(feature = "schema"))]
#[path = "no_guidance.rs"]
mod guidance;
mod regex;
mod schema;
mod words;

use std::sync::Arc;
use std::thread;

use serde::{Deserialize, Serialize};

use self::guidance::Guidance;
use crate::constrained::{Automaton, Cancel, Constraint, Vocabulary};
use crate::error::{RequestError, Result, ServiceError};
use crate::{panics, priority};
pub use grammars::Grammars;
pub use schema::Schema;

/// Which texts are allowed: as a whole, from their first byte to their last. In JSON: an object with
/// one field, `{"regex": "[0-9]+"}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grammar {
    /// Those that a regular expression matches, in the syntax of the crate `regex`.
    Regex(String),
    /// These.
    Choice(Vec<String>),
    /// JSON that is valid under a schema. Between its parts there may be a space, or a new line with
    /// up to 32 spaces.
    JsonSchema(Schema),
    /// Those of a grammar in the syntax of Lark, as `llguidance` reads it: a rule `start`, terminals in
    /// capitals, and `%json { ... }` for a JSON schema within.
    Lark(String),
}

impl Grammar {
    /// Compiles it for a vocabulary.
    ///
    /// # Errors
    /// A grammar that is wrong or too large, allows no text but the empty one, or none that tokens of
    /// the vocabulary can begin; a JSON schema or a Lark grammar without the feature `schema`.
    pub fn compile(&self, vocabulary: Arc<Vocabulary>) -> Result<Constraint> {
        let guidance = || Guidance::new(vocabulary.clone()).map(Arc::new);
        self.compile_by(vocabulary.clone(), guidance, &Cancel::default())
    }

    /// As [`compile`](Self::compile), by what `guidance` has made of the vocabulary, which takes longer
    /// than a grammar. Ends with an error once `cancel` is cancelled.
    fn compile_by(
        &self,
        vocabulary: Arc<Vocabulary>,
        guidance: impl FnOnce() -> Result<Arc<Guidance>>,
        cancel: &Cancel,
    ) -> Result<Constraint> {
        cancel.check()?;
        match self {
            Self::Regex(pattern) => by_automaton(pattern, vocabulary),
            Self::Choice(texts) if texts.is_empty() => Err(RequestError::GrammarEmpty.into()),
            Self::Choice(texts) => {
                let texts: Vec<_> = texts.iter().map(|text| regex::escaped(text)).collect();
                by_automaton(&texts.join("|"), vocabulary)
            }
            Self::JsonSchema(schema) => guidance()?.json_schema(schema, cancel),
            Self::Lark(grammar) => guidance()?.lark(grammar, cancel),
        }
    }
}

/// Compiles a regular expression in a thread that others come before.
fn by_automaton(pattern: &str, vocabulary: Arc<Vocabulary>) -> Result<Constraint> {
    let compile = || Constraint::new(Automaton::from_regex(pattern)?, vocabulary);
    if cfg!(target_arch = "wasm32") {
        return compile();
    }
    thread::scope(|scope| {
        let compiler = thread::Builder::new().name("slowburn grammar".to_owned());
        let compiler = compiler.spawn_scoped(scope, || {
            priority::lower();
            panics::contain("the automaton", compile).flatten()
        });
        let ended = compiler.map_err(ServiceError::Thread)?.join();
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
