//! The latest grammars of a model.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use sha2::{Digest, Sha256};

use super::Grammar;
use super::guidance::Guidance;
use crate::constrained::{Cancel, Constraint, Vocabulary};
use crate::error::Result;

/// The grammars of one model that were compiled, the latest of them.
#[derive(Debug, Default)]
pub struct Grammars {
    vocabulary: OnceLock<Arc<Vocabulary>>,
    guidance: OnceLock<Arc<Guidance>>,
    /// The latest comes first.
    recent: Mutex<Vec<(Key, Constraint)>>,
}

/// How many grammars are kept.
const RECENT: usize = 32;

/// The most memory of those, with their masks, in bytes.
const MEMORY: usize = 64 << 20;

/// The most masks of one of them. A mask is a bit for each token, so with 150,000 tokens these are 19 MB.
const MASKS: usize = 1024;

/// The SHA-256 of a grammar: one may have hundreds of kilobytes, and is compared with each that is kept.
type Key = [u8; 32];

impl Grammars {
    /// Compiles a grammar, unless it is one of the latest. `vocabulary` is called once.
    ///
    /// # Errors
    /// As [`Grammar::compile`]; work that was given up.
    pub fn compile(
        &self,
        grammar: &Grammar,
        vocabulary: impl FnOnce() -> Vocabulary,
        cancel: &Cancel,
    ) -> Result<Constraint> {
        let key = key(grammar);
        if let Some(known) = self.find(&key) {
            return Ok(known);
        }
        // Not under the lock: others need not wait for it.
        let vocabulary = self.vocabulary(vocabulary);
        let guidance = || self.guidance(vocabulary.clone());
        let constraint = grammar.compile_by(vocabulary.clone(), guidance, cancel)?;
        self.keep(key, constraint.clone(), MEMORY);
        Ok(constraint)
    }

    /// A grammar that is one of the latest.
    pub fn known(&self, grammar: &Grammar) -> Option<Constraint> {
        self.find(&key(grammar))
    }

    /// The vocabulary that they are compiled for. `make` is called once.
    pub fn vocabulary(&self, make: impl FnOnce() -> Vocabulary) -> Arc<Vocabulary> {
        self.vocabulary.get_or_init(|| Arc::new(make())).clone()
    }

    /// The memory of the grammars that are kept, with their masks, in bytes.
    pub fn bytes(&self) -> usize {
        self.recent().iter().map(|(_, constraint)| constraint.bytes()).sum()
    }

    fn guidance(&self, vocabulary: Arc<Vocabulary>) -> Result<Arc<Guidance>> {
        if let Some(guidance) = self.guidance.get() {
            return Ok(guidance.clone());
        }
        // Two threads may make it, and one of the two is kept.
        let guidance = Arc::new(Guidance::new(vocabulary)?);
        Ok(self.guidance.get_or_init(|| guidance).clone())
    }

    fn find(&self, key: &Key) -> Option<Constraint> {
        let mut recent = self.recent();
        // One that counts has a state for each number: its masks pile up, and are forgotten. Texts that have
        // begun keep theirs.
        for (_, constraint) in recent.iter_mut().filter(|(_, of)| of.seen() > MASKS) {
            *constraint = constraint.fresh();
        }
        let index = recent.iter().position(|(known, _)| known == key)?;
        recent[..=index].rotate_right(1);
        recent.first().map(|(_, constraint)| constraint.clone())
    }

    /// Keeps a grammar, and forgets those that nobody has asked for longest where all together take more than
    /// `most` bytes.
    fn keep(&self, key: Key, constraint: Constraint, most: usize) {
        if constraint.bytes() > most {
            return;
        }
        let mut recent = self.recent();
        recent.insert(0, (key, constraint));
        let mut left = most;
        let mut fits = |(_, constraint): &(_, Constraint)| {
            let rest = left.checked_sub(constraint.bytes());
            left = rest.unwrap_or(0);
            rest.is_some()
        };
        let kept = recent.iter().take(RECENT).take_while(|kept| fits(kept)).count();
        recent.truncate(kept);
    }

    fn recent(&self) -> MutexGuard<'_, Vec<(Key, Constraint)>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(grammar: &Grammar) -> Key {
    // As JSON: the order of a schema's fields counts.
    let json = serde_json::to_vec(grammar).unwrap_or_default();
    Sha256::digest(json).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, RequestError};

    fn letters() -> Vocabulary {
        Vocabulary::new(3, |id| b"abc".get(id as usize).map(|&byte| vec![byte]), Vec::new())
    }

    fn regex(length: usize) -> Grammar {
        Grammar::Regex(format!("[ab]{{{length}}}"))
    }

    #[test]
    fn those_that_are_kept_take_no_more_memory_than_they_may() {
        let grammars = Grammars::default();
        let compile = |length| {
            let compiled = regex(length).compile(Arc::new(letters()));
            (key(&regex(length)), compiled.unwrap())
        };
        let most = 3 * compile(1000).1.bytes();
        let is_kept = |length| grammars.find(&key(&regex(length))).is_some();
        for length in [1000, 999, 998] {
            let (key, constraint) = compile(length);
            grammars.keep(key, constraint, most);
        }
        assert!(grammars.bytes() <= most && is_kept(998) && is_kept(999) && is_kept(1000));
        // 1000 was asked for last, and 998 first.
        let (key, constraint) = compile(997);
        grammars.keep(key, constraint, most);
        assert!(is_kept(997) && is_kept(1000) && !is_kept(998), "{}", grammars.bytes());
        // One that is too large by itself takes nothing from the others.
        let (key, constraint) = compile(5000);
        grammars.keep(key, constraint, most);
        assert!(!is_kept(5000) && is_kept(997) && is_kept(1000));
    }

    #[test]
    fn what_is_given_up_is_neither_compiled_nor_kept() {
        let grammars = Grammars::default();
        let cancel = Cancel::default();
        cancel.cancel();
        let given_up = grammars.compile(&regex(3), letters, &cancel);
        assert!(matches!(given_up, Err(Error::Request(RequestError::GrammarCancelled))));
        assert!(grammars.known(&regex(3)).is_none());
        assert!(grammars.compile(&regex(3), letters, &Cancel::default()).is_ok());
        assert!(grammars.known(&regex(3)).is_some());
    }
}
