//! A text under a constraint.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::constraint::{Allowed, Compiled, States};
use super::parser::Parsed;
use super::{Automaton, Cancel, Constraint, State, TokenMask};
use crate::error::{RequestError, Result};

/// Follows one text under a constraint. What may come next depends on the text alone: however its
/// tokens were computed, and whatever else was asked before, the answer is the same.
pub struct Follower {
    constraint: Constraint,
    cancel: Cancel,
    text: Mutex<Text>,
}

/// How far the text was read.
enum Text {
    Walked(Walked),
    Parsed(Parsed),
}

/// A text that an automaton reads.
#[derive(Clone)]
struct Walked {
    states: Arc<States>,
    read: Vec<u32>,
    state: State,
    /// What was found last, and where. Not all masks are kept for all texts.
    last: Option<(State, Arc<Allowed>)>,
}

/// The tokens that may come next.
#[derive(Debug, Clone)]
pub struct NextTokens(Arc<Allowed>);

impl NextTokens {
    /// These tokens, in a vocabulary of this size.
    pub(super) fn of(ids: &[u32], vocab_size: usize) -> Self {
        let mut mask = TokenMask::none(vocab_size);
        ids.iter().for_each(|&id| mask.insert(id));
        Self(Arc::new(Allowed { mask, is_complete: false }))
    }

    /// All tokens but these, in a vocabulary of this size.
    pub(super) fn all_but(ids: &[u32], vocab_size: usize) -> Self {
        let words = vec![u32::MAX; vocab_size.div_ceil(32)];
        let mut mask = TokenMask::from_words(&words, vocab_size);
        ids.iter().for_each(|&id| mask.remove(id));
        Self(Arc::new(Allowed { mask, is_complete: false }))
    }

    /// These tokens too.
    pub(super) fn and(&self, ids: &[u32]) -> Self {
        let mut mask = self.0.mask.clone();
        ids.iter().for_each(|&id| mask.insert(id));
        Self(Arc::new(Allowed { mask, is_complete: false }))
    }

    /// With the tokens that end a text, where it may end.
    pub fn mask(&self) -> &TokenMask {
        &self.0.mask
    }

    /// Whether the text is complete: no token continues it.
    pub fn is_complete(&self) -> bool {
        self.0.is_complete
    }
}

impl Follower {
    pub(super) fn new(constraint: Constraint) -> Self {
        let cancel = Cancel::default();
        let text = match &constraint.0 {
            Compiled::Automaton(states) => Text::Walked(Walked {
                states: states.clone(),
                read: Vec::new(),
                state: Automaton::START,
                last: None,
            }),
            Compiled::Parser(begin) => Text::Parsed(Parsed::new(begin.clone(), cancel.clone())),
        };
        Self { constraint, cancel, text: Mutex::new(text) }
    }

    /// Gives up what another thread asks of this follower, now and later: a mask may take long.
    pub fn canceller(&self) -> Cancel {
        self.cancel.clone()
    }

    /// The constraint.
    pub fn constraint(&self) -> &Constraint {
        &self.constraint
    }

    /// The tokens that may come after `output`.
    ///
    /// # Errors
    /// An output that the constraint does not allow; no token of the vocabulary that continues it; a
    /// grammar that takes too much work here.
    pub fn next(&self, output: &[u32]) -> Result<NextTokens> {
        match &mut *self.text() {
            Text::Walked(text) => text.allowed(output),
            Text::Parsed(text) => text.allowed(output),
        }
        .map(NextTokens)
    }

    /// The tokens that must come after `output`, as long as there is one choice: `most` at most. The
    /// end of the text is none of them.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn forced(&self, output: &[u32], most: usize) -> Result<Vec<u32>> {
        match &mut *self.text() {
            Text::Walked(text) => text.forced(output, most),
            Text::Parsed(text) => text.forced(output, most),
        }
    }

    fn text(&self) -> MutexGuard<'_, Text> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Follower {
    /// What gives up this one's work does not give up that of the clone.
    fn clone(&self) -> Self {
        let cancel = Cancel::default();
        let text = match &*self.text() {
            Text::Walked(text) => Text::Walked(text.clone()),
            Text::Parsed(text) => Text::Parsed(text.copy(cancel.clone())),
        };
        Self {
            constraint: self.constraint.clone(),
            cancel,
            text: Mutex::new(text),
        }
    }
}

impl fmt::Debug for Follower {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Follower").field("constraint", &self.constraint).finish_non_exhaustive()
    }
}

impl Walked {
    fn allowed(&mut self, output: &[u32]) -> Result<Arc<Allowed>> {
        let state = self.state_after(output)?;
        let allowed = match &self.last {
            Some((last, allowed)) if *last == state => allowed.clone(),
            _ => self.states.allowed(state),
        };
        self.last = Some((state, allowed.clone()));
        if allowed.is_complete && !self.states.automaton().accepts(state) {
            return Err(RequestError::NoTokenFits { step: output.len() }.into());
        }
        Ok(allowed)
    }

    // ANCHOR: forced
    /// The tokens that must come after `output`, as long as there is one choice: `most` at most. The
    /// end of the text is none of them.
    fn forced(&mut self, output: &[u32], most: usize) -> Result<Vec<u32>> {
        let mut state = self.state_after(output)?;
        let mut forced = Vec::new();
        while forced.len() < most {
            let allowed = self.states.allowed(state);
            let only = allowed.mask.only().filter(|_| !allowed.is_complete);
            let Some((token, next)) =
                only.and_then(|token| Some((token, self.states.read(state, token)?)))
            else {
                break;
            };
            forced.push(token);
            state = next;
        }
        Ok(forced)
    }
    // ANCHOR_END: forced

    // ANCHOR: state_after
    /// The state after `output`. Only what is new since the last call is read.
    fn state_after(&mut self, output: &[u32]) -> Result<State> {
        if !output.starts_with(&self.read) {
            (self.read, self.state) = (Vec::new(), Automaton::START);
        }
        for (step, &token) in output.iter().enumerate().skip(self.read.len()) {
            let next = self.states.read(self.state, token);
            self.state = next.ok_or(RequestError::OutsideGrammar { step, token })?;
            self.read.push(token);
        }
        Ok(self.state)
    }
    // ANCHOR_END: state_after
}
