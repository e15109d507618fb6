//! A grammar, compiled for the vocabulary of a model.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::{Automaton, Follower, State, TokenMask, Vocabulary};
use crate::error::{RequestError, Result};

/// A grammar, compiled for the vocabulary of a model. A clone is the same constraint: all texts
/// under it share the masks that were computed.
#[derive(Clone)]
pub struct Constraint(Arc<Compiled>);

struct Compiled {
    vocabulary: Arc<Vocabulary>,
    automaton: Automaton,
    /// By state, once a text was in it.
    allowed: Vec<OnceLock<Arc<Allowed>>>,
}

/// Which tokens may come next.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Allowed {
    /// With the tokens that end a text, where it may end.
    pub(super) mask: TokenMask,
    /// Whether the text must end.
    pub(super) is_complete: bool,
}

impl Constraint {
    /// Compiles an automaton for a vocabulary.
    ///
    /// # Errors
    /// An automaton that accepts only the empty text, or none that tokens of the vocabulary can begin.
    pub fn new(automaton: Automaton, vocabulary: Arc<Vocabulary>) -> Result<Self> {
        let constraint = Self::without_masks(automaton, vocabulary);
        let start = constraint.allowed(Automaton::START);
        if !start.is_complete {
            Ok(constraint)
        } else if constraint.0.automaton.accepts(Automaton::START) {
            Err(RequestError::GrammarEmpty.into())
        } else {
            Err(RequestError::GrammarUnspellable.into())
        }
    }

    /// The vocabulary that it was compiled for.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.0.vocabulary
    }

    /// Checks that it was compiled for a vocabulary of this size.
    ///
    /// # Errors
    /// Another size.
    pub(crate) fn check_vocabulary(&self, model: usize) -> Result<()> {
        let constraint = self.vocabulary().size();
        if constraint != model {
            return Err(RequestError::ConstraintVocabulary { constraint, model }.into());
        }
        Ok(())
    }

    /// The automaton.
    pub fn automaton(&self) -> &Automaton {
        &self.0.automaton
    }

    /// The same constraint without the masks that were computed.
    pub fn fresh(&self) -> Self {
        Self::without_masks(self.0.automaton.clone(), self.0.vocabulary.clone())
    }

    fn without_masks(automaton: Automaton, vocabulary: Arc<Vocabulary>) -> Self {
        let allowed = (0..automaton.states()).map(|_| OnceLock::new()).collect();
        Self(Arc::new(Compiled { vocabulary, automaton, allowed }))
    }

    /// The number of states whose masks were computed.
    pub fn seen(&self) -> usize {
        self.0.allowed.iter().filter(|allowed| allowed.get().is_some()).count()
    }

    /// Follows a text under this constraint.
    pub fn follow(&self) -> Follower {
        Follower::new(self.clone())
    }

    // ANCHOR: mask
    /// Which tokens may come next in this state. Computed when a text comes to this state for the
    /// first time, and kept.
    pub(super) fn allowed(&self, state: State) -> &Arc<Allowed> {
        let Compiled { vocabulary, automaton, allowed } = &*self.0;
        allowed[state.0 as usize].get_or_init(|| {
            let mut mask = TokenMask::none(vocabulary.size());
            vocabulary.trie().mask(automaton, state, &mut mask);
            let is_complete = mask.is_empty();
            if automaton.accepts(state) {
                vocabulary.end_ids().iter().for_each(|&id| mask.insert(id));
            }
            Arc::new(Allowed { mask, is_complete })
        })
    }
    // ANCHOR_END: mask

    // ANCHOR: read
    /// The state after one more token. A token that ends a text changes nothing, since it has no
    /// bytes. None for a token that is not allowed.
    pub(super) fn read(&self, state: State, token: u32) -> Option<State> {
        let Compiled { vocabulary, automaton, .. } = &*self.0;
        if vocabulary.end_ids().contains(&token) {
            return automaton.accepts(state).then_some(state);
        }
        let bytes = vocabulary.bytes(token);
        if bytes.is_empty() {
            return None;
        }
        automaton.read(state, bytes)
    }
    // ANCHOR_END: read
}

impl fmt::Debug for Constraint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Constraint")
            .field("states", &self.0.automaton.states())
            .field("seen", &self.seen())
            .finish_non_exhaustive()
    }
}
