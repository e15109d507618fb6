//! A grammar, compiled for the vocabulary of a model.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::parser::Begin;
use super::{Automaton, Follower, Parser, State, TokenMask, Vocabulary};
use crate::error::{RequestError, Result};

/// A grammar, compiled for the vocabulary of a model. A clone is the same constraint: all texts
/// under it share the masks of an automaton that were computed.
///
/// ```
/// # #[cfg(feature = "burn")] {
/// use slowburn::device::{self, DeviceChoice, Precision};
/// use slowburn::grammar::Grammar;
/// use slowburn::{Options, Pretrained};
///
/// let ember = Pretrained::bundled(&device::open(DeviceChoice::Auto)?, Precision::F32)?;
/// let date = ember.constraint(&Grammar::Regex("[0-9]{4}-[0-9]{2}-[0-9]{2}".to_owned()))?;
/// let options = Options { constraint: Some(date), ..Options::default() };
/// assert_eq!(ember.generate("It was on ", &options)?.len(), "2026-01-31".len());
/// # }
/// # Ok::<(), slowburn::Error>(())
/// ```
#[derive(Clone)]
pub struct Constraint(pub(super) Compiled);

/// See [`Constraint::id`].
#[cfg(feature = "text")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ConstraintId(pub(crate) usize);

/// What reads the texts.
#[derive(Clone)]
pub(super) enum Compiled {
    Automaton(Arc<States>),
    Parser(Arc<Begin>),
}

/// An automaton, and the masks of its states.
pub(super) struct States {
    vocabulary: Arc<Vocabulary>,
    automaton: Automaton,
    /// By state, once a text was in it.
    allowed: Vec<OnceLock<Arc<Allowed>>>,
    /// How many of them there are.
    seen: AtomicUsize,
}

/// The most memory of the masks of an automaton, in bytes. Behind that, those of further states are computed
/// each time: an automaton that counts has a state for each number.
const MASKS: usize = 16 << 20;

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
        let states = States::new(automaton, vocabulary);
        let start = states.allowed(Automaton::START);
        if !start.is_complete {
            Ok(Self(Compiled::Automaton(Arc::new(states))))
        } else if states.automaton.accepts(Automaton::START) {
            Err(RequestError::GrammarEmpty.into())
        } else {
            Err(RequestError::GrammarUnspellable.into())
        }
    }

    /// A constraint by a parser for this vocabulary that has read nothing yet. Each text has a copy.
    ///
    /// # Errors
    /// A grammar that allows only the empty text, or none that tokens of the vocabulary can begin; one
    /// that takes too much work at its beginning.
    pub fn by_parser(mut parser: Box<dyn Parser>, vocabulary: Arc<Vocabulary>) -> Result<Self> {
        let (mut mask, may_end) = parser.next()?;
        if !mask.is_empty() {
            if may_end {
                vocabulary.end_ids().iter().for_each(|&id| mask.insert(id));
            }
            let first = Arc::new(Allowed { mask, is_complete: false });
            Ok(Self(Compiled::Parser(Arc::new(Begin { parser, vocabulary, first }))))
        } else if may_end {
            Err(RequestError::GrammarEmpty.into())
        } else {
            Err(RequestError::GrammarUnspellable.into())
        }
    }

    /// The vocabulary that it was compiled for.
    pub fn vocabulary(&self) -> &Vocabulary {
        match &self.0 {
            Compiled::Automaton(states) => &states.vocabulary,
            Compiled::Parser(begin) => &begin.vocabulary,
        }
    }

    /// A number that it has in common with its clones, as long as there are any.
    #[cfg(feature = "text")]
    pub(crate) fn id(&self) -> ConstraintId {
        ConstraintId(match &self.0 {
            Compiled::Automaton(states) => Arc::as_ptr(states).addr(),
            Compiled::Parser(begin) => Arc::as_ptr(begin).addr(),
        })
    }

    /// Checks that it was compiled for a vocabulary of this size.
    ///
    /// # Errors
    /// Another size.
    #[cfg(feature = "text")]
    pub(crate) fn check_vocabulary(&self, model: usize) -> Result<()> {
        let constraint = self.vocabulary().size();
        if constraint != model {
            return Err(RequestError::ConstraintVocabulary { constraint, model }.into());
        }
        Ok(())
    }

    /// The automaton. None for a grammar that is read by a [`Parser`].
    pub fn automaton(&self) -> Option<&Automaton> {
        self.states().map(|states| &states.automaton)
    }

    /// The same constraint without the masks that were computed.
    pub fn fresh(&self) -> Self {
        match &self.0 {
            Compiled::Automaton(of) => {
                let states = States::new(of.automaton.clone(), of.vocabulary.clone());
                Self(Compiled::Automaton(Arc::new(states)))
            }
            Compiled::Parser(_) => self.clone(),
        }
    }

    /// The number of states of the automaton whose masks were computed.
    pub fn seen(&self) -> usize {
        self.states().map_or(0, |states| states.seen.load(Ordering::Relaxed))
    }

    /// Its memory with the masks that were computed, in bytes, without the vocabulary.
    pub fn bytes(&self) -> usize {
        match &self.0 {
            Compiled::Automaton(states) => states.bytes(),
            Compiled::Parser(begin) => begin.parser.bytes() + begin.first.mask.bytes(),
        }
    }

    fn states(&self) -> Option<&States> {
        match &self.0 {
            Compiled::Automaton(states) => Some(states),
            Compiled::Parser(_) => None,
        }
    }

    /// Follows a text under this constraint.
    pub fn follow(&self) -> Follower {
        Follower::new(self.clone())
    }
}

impl States {
    fn new(automaton: Automaton, vocabulary: Arc<Vocabulary>) -> Self {
        let allowed = (0..automaton.states()).map(|_| OnceLock::new()).collect();
        Self { vocabulary, automaton, allowed, seen: AtomicUsize::new(0) }
    }

    pub(super) fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    // ANCHOR: mask
    /// Which tokens may come next in this state. Computed when a text comes to this state for the
    /// first time, and kept as long as there is room.
    pub(super) fn allowed(&self, state: State) -> Arc<Allowed> {
        let Self { vocabulary, automaton, allowed, seen } = self;
        let kept = &allowed[state.0 as usize];
        if let Some(allowed) = kept.get() {
            return allowed.clone();
        }
        let mut mask = TokenMask::none(vocabulary.size());
        vocabulary.trie().mask(automaton, state, &mut mask);
        let is_complete = mask.is_empty();
        if automaton.accepts(state) {
            vocabulary.end_ids().iter().for_each(|&id| mask.insert(id));
        }
        let allowed = Arc::new(Allowed { mask, is_complete });
        // Another thread may have been faster.
        if self.has_room() && kept.set(allowed.clone()).is_ok() {
            seen.fetch_add(1, Ordering::Relaxed);
        }
        allowed
    }
    // ANCHOR_END: mask

    /// Whether one more mask is kept.
    fn has_room(&self) -> bool {
        self.masks_bytes() < MASKS
    }

    fn masks_bytes(&self) -> usize {
        self.seen.load(Ordering::Relaxed) * TokenMask::bytes_of(self.vocabulary.size())
    }

    fn bytes(&self) -> usize {
        let of_states = self.allowed.len() * size_of::<OnceLock<Arc<Allowed>>>();
        self.automaton.bytes() + of_states + self.masks_bytes()
    }

    /// The state after one more token. A token that ends a text changes nothing, since it has no
    /// bytes. None for a token that is not allowed.
    pub(super) fn read(&self, state: State, token: u32) -> Option<State> {
        let Self { vocabulary, automaton, .. } = self;
        if vocabulary.end_ids().contains(&token) {
            return automaton.accepts(state).then_some(state);
        }
        let bytes = vocabulary.bytes(token);
        if bytes.is_empty() {
            return None;
        }
        automaton.read(state, bytes)
    }
}

impl fmt::Debug for Constraint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Constraint")
            .field("states", &self.automaton().map(Automaton::states))
            .field("seen", &self.seen())
            .finish_non_exhaustive()
    }
}
