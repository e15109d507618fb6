//! A text under a constraint.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::constraint::Allowed;
use super::{Automaton, Constraint, State, TokenMask};
use crate::error::{RequestError, Result};

/// Follows one text under a constraint. What may come next depends on the text alone: however its
/// tokens were computed, and whatever else was asked before, the answer is the same.
#[derive(Debug)]
pub struct Follower {
    constraint: Constraint,
    /// How far the text was read.
    place: Mutex<Place>,
}

#[derive(Debug, Clone)]
struct Place {
    read: Vec<u32>,
    state: State,
}

/// The tokens that may come next.
#[derive(Debug, Clone)]
pub struct NextTokens(Arc<Allowed>);

impl NextTokens {
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
        let place = Place { read: Vec::new(), state: Automaton::START };
        Self { constraint, place: Mutex::new(place) }
    }

    /// The constraint.
    pub fn constraint(&self) -> &Constraint {
        &self.constraint
    }

    /// The tokens that may come after `output`.
    ///
    /// # Errors
    /// An output that the constraint does not allow; no token of the vocabulary that continues it.
    pub fn next(&self, output: &[u32]) -> Result<NextTokens> {
        let state = self.state_after(output)?;
        let allowed = self.constraint.allowed(state);
        if allowed.is_complete && !self.constraint.automaton().accepts(state) {
            return Err(RequestError::NoTokenFits { step: output.len() }.into());
        }
        Ok(NextTokens(allowed.clone()))
    }

    // ANCHOR: forced
    /// The tokens that must come after `output`, as long as there is one choice: `most` at most. The
    /// end of the text is none of them.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn forced(&self, output: &[u32], most: usize) -> Result<Vec<u32>> {
        let mut state = self.state_after(output)?;
        let mut forced = Vec::new();
        while forced.len() < most {
            let allowed = self.constraint.allowed(state);
            let only = allowed.mask.only().filter(|_| !allowed.is_complete);
            let Some((token, next)) =
                only.and_then(|token| Some((token, self.constraint.read(state, token)?)))
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
    fn state_after(&self, output: &[u32]) -> Result<State> {
        let mut place = self.place();
        if !output.starts_with(&place.read) {
            *place = Place { read: Vec::new(), state: Automaton::START };
        }
        for (step, &token) in output.iter().enumerate().skip(place.read.len()) {
            let next = self.constraint.read(place.state, token);
            place.state = next.ok_or(RequestError::OutsideGrammar { step, token })?;
            place.read.push(token);
        }
        Ok(place.state)
    }
    // ANCHOR_END: state_after

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Follower {
    fn clone(&self) -> Self {
        Self {
            constraint: self.constraint.clone(),
            place: Mutex::new(self.place().clone()),
        }
    }
}
